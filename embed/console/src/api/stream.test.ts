import { expect, test } from 'vitest'
import { pause } from './stream'

test('attempts are made 1 s to 60 s apart', () => {
  expect([0, 1, 2, 5, 6, 7, 2000].map((n) => pause(n, 1))).toEqual([1000, 2000, 4000, 32_000, 60_000, 60_000, 60_000])
  expect(pause(0, 0)).toBe(750)
})
