import { useCallback, useEffect, useRef, useState } from 'react'
import { Failure, get, type Query } from '../../api/request'
import { present } from '../../ui/presence'
import { useParts } from '../../ui/useParts'
import { asked, type Events, type Kind } from './kinds'
import { spanOf, within } from './span'
import { useLatest } from '../../ui/useLatest'

// A list of events is read from the newest on: more of it is asked for below, and
// what is new comes in above. It has no pages, whose content would change with every
// event; and the server looks for some moments only, and then says how far it came.

type Answer<T> = { data: T[]; total: number; scanned_until: string | null }

type Found<T> = {
  rows: T[]
  fresh: ReadonlySet<number> // those that came in last
  before: number // how many match that this question is not about: they are newer
  to: string | undefined // the newest that was asked for
  page: number // of that, the last one asked for
  total: number // matching, back to where it stopped
  until: string | null // where it stopped
}

const size = 50
const most = 1000 // rows that stay while new ones come in
const liveEvery = 2000
const liveBack = 120_000 // an event is stored when its request ends
const looks = 20 // that one wish for more may take while nothing is found

const nothing = { rows: [], fresh: new Set<number>(), before: 0, to: undefined, page: 1, total: 0, until: null }

function unknown<T extends { id: number }>(rows: T[], among: T[]): T[] {
  const known = new Set(among.map((row) => row.id))
  return rows.filter((row) => !known.has(row.id))
}

// onTop is what was found with what has come in since.
function onTop<T extends { id: number; recorded_at: string }>(now: Found<T>, answer: Answer<T>): Found<T> {
  const added = unknown(answer.data, now.rows)
  if (!added.length) return now
  const fresh = new Set(added.map((row) => row.id))
  if (added.length === 2 * size && now.rows.length) {
    // there may be others in between: they are found below
    return { ...nothing, rows: added, fresh, page: 2, total: answer.total, until: answer.scanned_until ?? newest(added) }
  }
  const rows = [...added, ...now.rows].sort((a, b) => b.id - a.id)
  if (rows.length <= most) return { ...now, rows, fresh, before: now.before + added.length }
  const kept = rows.slice(0, most)
  return { ...nothing, rows: kept, fresh, before: most, until: newest(kept.slice(-size)) }
}

// newest is the time from which more has to be asked for: events that were stored one
// after the other need not have begun so.
const newest = (rows: { recorded_at: string }[]) =>
  rows
    .map((row) => row.recorded_at)
    .sort()
    .at(-1) ?? ''

export function useEvents<K extends Kind>(kind: K) {
  type Row = Events[K]
  const { params, set } = useParts()
  const [found, setFound] = useState<Found<Row>>(nothing)
  const [loading, setLoading] = useState(true)
  const [failure, setFailure] = useState<Failure>()
  const asking = useRef<AbortController>(undefined)
  const span = spanOf(params)
  const conditions = JSON.stringify(Object.fromEntries(asked(kind).map((name) => [name, params.get(name)])))
  const live = params.get('live') === '1' && span.to === undefined
  const latest = useLatest(found)

  const ask = useCallback(
    (more: Query, signal: AbortSignal, quiet = false) =>
      get<Answer<Row>>(`/system/monitor/${kind}`, { ...(JSON.parse(conditions) as Query), pageSize: size, ...more }, { signal, quiet }),
    [kind, conditions],
  )

  // begin asks alone: what was asked before must not overtake it.
  const begin = useCallback(async (act: (signal: AbortSignal) => Promise<void>) => {
    asking.current?.abort()
    const control = new AbortController()
    asking.current = control
    setLoading(true)
    try {
      await act(control.signal)
      setFailure(undefined)
    } catch (cause) {
      if (cause instanceof Failure) setFailure(cause) // it is shown, and what was there stays
    } finally {
      if (asking.current === control) setLoading(false)
    }
  }, [])

  // biome-ignore lint/correctness/useExhaustiveDependencies: span.key stands for from and to, which are made anew for each drawing
  const reload = useCallback(
    () =>
      begin(async (signal) => {
        const to = span.to === undefined ? undefined : new Date(span.to).toISOString()
        // biome-ignore lint/nursery/useReactCompiler: span.key stands for from and to, which are made anew for each drawing
        const answer = await ask(within(span.from(), to), signal)
        setFound({ ...nothing, rows: answer.data, to, total: answer.total, until: answer.scanned_until })
      }),
    [begin, ask, span.key],
  )

  useEffect(() => {
    // biome-ignore lint/nursery/useReactCompiler: a question that has begun is shown at once
    void reload()
    return () => asking.current?.abort()
  }, [reload])

  const more = () =>
    begin(async (signal) => {
      for (let now = latest.current, look = 0; look < looks; look++) {
        const further = now.page * size >= now.total
        if (further && now.until === null) return
        const next = further ? { before: now.before + now.total, to: now.until!, page: 1 } : { before: now.before, to: now.to, page: now.page + 1 }
        const answer = await ask({ ...within(span.from(), next.to), page: next.page }, signal)
        const added = unknown(answer.data, now.rows)
        const twice = further ? answer.data.length - added.length : 0 // where two questions meet
        now = { ...next, before: next.before - twice, rows: [...now.rows, ...added], fresh: now.fresh, total: answer.total, until: answer.scanned_until }
        setFound(now)
        if (added.length) return
      }
    })

  // biome-ignore lint/correctness/useExhaustiveDependencies: span.key stands for from, which is made anew for each drawing
  useEffect(() => {
    if (!live) return
    const control = new AbortController()
    const look = async () => {
      if (!present()) return
      try {
        const answer = await ask({ ...within(Math.max(span.from(), Date.now() - liveBack)), pageSize: 2 * size }, control.signal, true)
        setFailure(undefined)
        setFound((now) => onTop(now, answer))
      } catch (cause) {
        if (cause instanceof Failure) setFailure(cause)
      }
    }
    const again = setInterval(() => void look(), liveEvery)
    return () => {
      control.abort()
      clearInterval(again)
    }
  }, [live, ask, span.key])

  const narrowing = asked(kind).filter((name) => params.get(name))
  return {
    ...found,
    loading,
    failure,
    live,
    span,
    params,
    set,
    reload,
    more,
    found: found.before + found.total,
    narrowed: narrowing.length,
    clear: () => set(Object.fromEntries(narrowing.map((name) => [name, undefined]))),
  }
}
