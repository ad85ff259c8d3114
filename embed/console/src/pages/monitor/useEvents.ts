import { useCallback, useEffect, useRef, useState } from 'react'
import { Failure, type Query, request } from '../../api/request'
import { present } from '../../ui/presence'
import { useQueryParams } from '../../ui/useQueryParams'
import { type Answer, below, type Found, first, nextOf, nothing, onTop, size } from './found'
import { asked, type Events, type Kind } from './kinds'
import { spanOf, within } from './span'
import { useLatest } from '../../ui/useLatest'

const liveEvery = 2000
const liveBack = 120_000 // an event is stored when its request ends
const looks = 20 // time limit of one request for more while nothing is found

export function useEvents<K extends Kind>(kind: K) {
  type Row = Events[K]
  const { params, set } = useQueryParams()
  const [found, setFound] = useState<Found<Row>>(nothing)
  const [loading, setLoading] = useState(true)
  const [failure, setFailure] = useState<Failure>()
  const [node, setNode] = useState('') // that has answered last
  const asking = useRef<AbortController>(undefined)
  const span = spanOf(params)
  const conditions = JSON.stringify(Object.fromEntries(asked(kind).map((name) => [name, params.get(name)])))
  const live = params.get('live') === '1' && span.to === undefined
  const latest = useLatest(found)

  const ask = useCallback(
    async (more: Query, signal: AbortSignal, quiet = false) => {
      const query = { ...(JSON.parse(conditions) as Query), pageSize: size, ...more }
      const answer = await request<Answer<Row> & { node: string }>('GET', `/system/monitor/${kind}`, { query, signal, quiet })
      setNode(answer.node)
      return answer
    },
    [kind, conditions],
  )

  // begin cancels the previous query, whose response must not arrive later.
  const begin = useCallback(async (act: (signal: AbortSignal) => Promise<void>) => {
    asking.current?.abort()
    const control = new AbortController()
    asking.current = control
    setLoading(true)
    try {
      await act(control.signal)
      setFailure(undefined)
    } catch (cause) {
      if (cause instanceof Failure) setFailure(cause) // already shown; the list stays
    } finally {
      if (asking.current === control) setLoading(false)
    }
  }, [])

  // biome-ignore lint/correctness/useExhaustiveDependencies: span.key stands for from and to, which are new functions on each render
  const reload = useCallback(
    () =>
      begin(async (signal) => {
        const to = span.to === undefined ? undefined : new Date(span.to).toISOString()
        // biome-ignore lint/nursery/useReactCompiler: span.key stands for from and to, which are new functions on each render
        const answer = await ask(within(span.from(), to), signal)
        setFound(first(answer, to))
      }),
    [begin, ask, span.key],
  )

  useEffect(() => {
    // biome-ignore lint/nursery/useReactCompiler: a query that has started is shown immediately
    void reload()
    return () => asking.current?.abort()
  }, [reload])

  const more = () =>
    begin(async (signal) => {
      for (let now = latest.current, look = 0; look < looks; look++) {
        const next = nextOf(now)
        if (!next) return
        const answer = await ask({ ...within(span.from(), next.to), page: next.page }, signal)
        const known = now.rows.length
        now = below(now, next, answer)
        setFound(now)
        if (now.rows.length > known) return
      }
    })

  // biome-ignore lint/correctness/useExhaustiveDependencies: span.key stands for from, which is a new function on each render
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
    const timer = setInterval(() => void look(), liveEvery)
    return () => {
      control.abort()
      clearInterval(timer)
    }
  }, [live, ask, span.key])

  const narrowing = asked(kind).filter((name) => params.get(name))
  return {
    ...found,
    loading,
    failure,
    live,
    node,
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
