import { expect, test, vi } from 'vitest'
import type { Notice } from '../api/types'

vi.stubGlobal('sessionStorage', { getItem: () => null })
vi.stubGlobal('localStorage', { getItem: () => '1' })
const { readUntil } = await import('./notices')

const notice = (kind: Notice['kind'], at: string, dismissible: 0 | 1 = 1) => ({ kind, at, dismissible }) as Notice

test('the server removes what is closed up to the first notice that is not', () => {
  const all = [notice('new_device', '1'), notice('acted_as', '2'), notice('new_device', '3'), notice('acted_as', '4')]
  expect(readUntil(all, {})).toBe('')
  expect(readUntil(all, { new_device: '3' })).toBe('1')
  expect(readUntil(all, { acted_as: '4' })).toBe('')
  expect(readUntil(all, { acted_as: '2', new_device: '3' })).toBe('3')
  expect(readUntil(all, { acted_as: '4', new_device: '3' })).toBe('4')
  expect(readUntil([notice('new_device', '1', 0)], { new_device: '1' })).toBe('')
})
