import dayjs from 'dayjs'
import { expect, test } from 'vitest'
import { expiry, presets, usual } from './key'

const now = new Date('2026-11-23T09:00:00Z')
const day = 86_400_000
const ahead = (iso: string | undefined) => new Date(iso ?? '').getTime() - now.getTime()

test.each<[number, number[]]>([
  [365, [30, 90, 180, 365]],
  [3650, [30, 90, 180, 365]],
  [60, [30, 60]],
  [90, [30, 90]],
  [7, [7]],
])('the lifetimes within %i days', (most, want) => expect(presets(most)).toEqual(want))

test.each([
  [365, 90],
  [60, 60],
])('the usual lifetime within %i days', (most, want) => {
  expect(usual(most)).toBe(want)
  expect(presets(most)).toContain(usual(most))
})

test('a number of days is from now', () => expect(ahead(expiry({ days: 30 }, 365, now))).toBe(30 * day))

test('the maximum is a little less, for clocks that differ', () => {
  const most = ahead(expiry({ days: 365 }, 365, now))
  expect(most).toBeLessThan(365 * day)
  expect(most).toBeGreaterThan(364 * day)
})

test('a date is its end', () => expect(expiry({ date: '2027-01-31' }, 365, now)).toBe(dayjs('2027-01-31').endOf('day').toISOString()))

test('the last possible date ends with the maximum', () => {
  const last = dayjs(now).add(60, 'day').format('YYYY-MM-DD')
  expect(ahead(expiry({ date: last }, 60, now))).toBeLessThan(60 * day)
})

test('a later date stays as it is, and the server rejects it', () =>
  expect(expiry({ date: '2029-01-31' }, 365, now)).toBe(dayjs('2029-01-31').endOf('day').toISOString()))

test('nothing is sent for as before', () => expect(expiry({ keep: true }, 365, now)).toBeUndefined())
