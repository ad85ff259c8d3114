import { expect, test } from 'vitest'
import type { Notice } from '../api/types'
import { kindsOf, readUntil } from './notice-lines'

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

test('there is one line of each kind, the newest last', () => {
  const lines = kindsOf([notice('new_device', '1'), notice('acted_as', '2'), notice('new_device', '3')])
  expect(lines.map(({ key, stamp }) => [key, stamp])).toEqual([
    ['acted_as', '2'],
    ['new_device', '3'],
  ])
})
