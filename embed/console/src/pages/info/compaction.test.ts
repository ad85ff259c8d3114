import fc from 'fast-check'
import { expect, test } from 'vitest'
import { percentOf, returned } from './compaction'

test('progress begins at 0 and is 100 only at the end', () => {
  fc.assert(
    fc.property(fc.nat(), fc.nat(), (done_bytes, total_bytes) => {
      const running = percentOf({ state: 'running', done_bytes, total_bytes })
      expect(running).toBeGreaterThanOrEqual(0)
      expect(running).toBeLessThan(100)
      expect(percentOf({ state: 'done', done_bytes, total_bytes })).toBe(100)
    }),
  )
  expect(percentOf({ state: 'running', done_bytes: 0, total_bytes: 0 })).toBe(0)
  expect(percentOf({ state: 'running', done_bytes: 50, total_bytes: 200 })).toBe(25)
})

test('a file that has grown returns nothing', () => {
  const file = (before_bytes: number, after_bytes: number) => ({ name: '', before_bytes, after_bytes, paused_ms: 0 })
  expect(returned([file(300, 100), file(50, 60)])).toBe(200)
  expect(returned([])).toBe(0)
})
