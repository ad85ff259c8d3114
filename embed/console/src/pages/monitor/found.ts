// A list of events is read from the newest: older ones are loaded below, and new ones
// appear above. It has no pages, whose content would change with every event; the server
// searches for a limited time and reports how far it got.

export type Answer<T> = { data: T[]; total: number; scanned_until: string | null }

export type Found<T> = {
  rows: T[]
  fresh: ReadonlySet<number> // the most recent arrivals
  before: number // newer matches, which this query does not include
  to: string | undefined // the newest query
  page: number // its last page
  total: number // matches down to where it stopped
  until: string | null // where it stopped
}

export const size = 50
const most = 1000 // rows that stay while new ones arrive

export const nothing = { rows: [], fresh: new Set<number>(), before: 0, to: undefined, page: 1, total: 0, until: null }

function unknown<T extends { id: number }>(rows: T[], among: T[]): T[] {
  const known = new Set(among.map((row) => row.id))
  return rows.filter((row) => !known.has(row.id))
}

// onTop merges new events with the events found before.
export function onTop<T extends { id: number; recorded_at: string }>(now: Found<T>, answer: Answer<T>): Found<T> {
  const added = unknown(answer.data, now.rows)
  if (!added.length) return now
  const fresh = new Set(added.map((row) => row.id))
  if (added.length === 2 * size && now.rows.length) {
    // there may be others in between; they are found below
    return { ...nothing, rows: added, fresh, page: 2, total: answer.total, until: answer.scanned_until ?? newest(added) }
  }
  const rows = [...added, ...now.rows].sort((a, b) => b.id - a.id)
  if (rows.length <= most) return { ...now, rows, fresh, before: now.before + added.length }
  const kept = rows.slice(0, most)
  return { ...nothing, rows: kept, fresh, before: most, until: newest(kept.slice(-size)) }
}

// newest is the time to query from: events stored in a row need not have started in that
// order.
const newest = (rows: { recorded_at: string }[]) =>
  rows
    .map((row) => row.recorded_at)
    .sort()
    .at(-1) ?? ''

// first is the result of the newest query.
export const first = <T>(answer: Answer<T>, to: string | undefined): Found<T> => ({
  ...nothing,
  rows: answer.data,
  to,
  total: answer.total,
  until: answer.scanned_until,
})

type Next = Pick<Found<unknown>, 'before' | 'to' | 'page'>

// nextOf returns the next query below; undefined at the end.
export function nextOf<T>(now: Found<T>): Next | undefined {
  if (now.page * size < now.total) return { before: now.before, to: now.to, page: now.page + 1 }
  return now.until === null ? undefined : { before: now.before + now.total, to: now.until, page: 1 }
}

// below merges the result of the next query.
export function below<T extends { id: number }>(now: Found<T>, next: Next, answer: Answer<T>): Found<T> {
  const added = unknown(answer.data, now.rows)
  const twice = next.page === 1 ? answer.data.length - added.length : 0 // where two queries meet
  return { ...next, before: next.before - twice, rows: [...now.rows, ...added], fresh: now.fresh, total: answer.total, until: answer.scanned_until }
}
