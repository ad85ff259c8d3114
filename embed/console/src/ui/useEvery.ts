import { useCallback, useState } from 'react'
import { every } from '../api/every'
import type { Listing } from '../api/paths'
import { useAsk } from './useAsk'

// useEvery is all records of a list of the interface, for pages that search and order
// them without asking again. Nothing is asked while path is empty.
export function useEvery<T>(path: Listing<T> | '') {
  const [answer, setAnswer] = useState<{ path: string; rows: T[] }>()
  const question = useCallback(
    async (signal: AbortSignal) => {
      if (path) setAnswer({ path, rows: await every<T>(path, {}, signal) })
    },
    [path],
  )
  const { loading, reload } = useAsk(question)
  const set = useCallback((edit: (rows: T[]) => T[]) => setAnswer((now) => now && { ...now, rows: edit(now.rows) }), [])
  return { rows: answer?.path === path ? answer.rows : undefined, loading: loading && path !== '', reload, set }
}
