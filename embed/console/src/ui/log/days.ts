import type { LogEntry } from '../../api/types'

// day is the local day of a time, such as 2026-11-23.
export function day(at: Date): string {
  return [at.getFullYear(), at.getMonth() + 1, at.getDate()].map((n) => String(n).padStart(2, '0')).join('-')
}

export type Day = { day: string; entries: LogEntry[] }

// days groups entries, which are in order of time, by local day.
export function days(entries: readonly LogEntry[]): Day[] {
  const all: Day[] = []
  for (const entry of entries) {
    const now = day(new Date(entry.at))
    const last = all.at(-1)
    if (last?.day === now) last.entries.push(entry)
    else all.push({ day: now, entries: [entry] })
  }
  return all
}

// daysAgo is the beginning of the day n days before now, or the end of it.
export function daysAgo(n: number, now: Date, end = false): Date {
  const at = new Date(now.getFullYear(), now.getMonth(), now.getDate() - n + (end ? 1 : 0))
  return end ? new Date(at.getTime() - 1) : at
}
