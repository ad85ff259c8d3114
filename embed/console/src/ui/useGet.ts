import { useCallback, useState } from 'react'
import type { Answer, Path } from '../api/paths'
import { get, type Query } from '../api/request'
import { useAsk } from './useAsk'

// useGet is what an address of the interface answers. Nothing is asked while path is
// empty.
export function useGet<P extends Path<'GET'> | ''>(path: P, query: Query = {}) {
  const [data, set] = useState<Answer<'GET', Exclude<P, ''>>>()
  const sent = JSON.stringify(query)
  const question = useCallback(
    async (signal: AbortSignal) => set(path ? await get(path as Exclude<P, ''>, JSON.parse(sent) as Query, { signal }) : undefined),
    [path, sent],
  )
  const { loading, reload } = useAsk(question)
  return { data, loading: loading && path !== '', reload, set }
}
