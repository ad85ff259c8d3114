import { expect, test } from 'vitest'
import type { LogEntry } from '../../api/types'
import { day, days, daysAgo } from './days'

const at = (text: string) => ({ at: new Date(text).toISOString() }) as LogEntry

test('entries are grouped by local day', () => {
  expect(days([])).toEqual([])
  const entries = [at('2026-03-02T00:00:00'), at('2026-03-01T23:59:59'), at('2026-03-01T00:00:00')]
  expect(days(entries).map(({ day, entries }) => [day, entries.length])).toEqual([
    ['2026-03-02', 1],
    ['2026-03-01', 2],
  ])
})

test('a day ago is the day before, also where a day has 23 or 25 hours', () => {
  for (const now of ['2026-03-01T00:00:00', '2026-03-29T23:30:00', '2026-10-26T00:30:00', '2026-11-02T12:00:00'].map((text) => new Date(text))) {
    const [begin, end] = [daysAgo(1, now), daysAgo(1, now, true)]
    expect(day(begin)).toBe(day(end))
    expect(day(new Date(end.getTime() + 1))).toBe(day(now))
    expect([begin.getHours(), begin.getMinutes(), end.getHours(), end.getMinutes()]).toEqual([0, 0, 23, 59])
  }
})
