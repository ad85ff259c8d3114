import { useCallback, useState } from 'react'
import { get, type Query } from '../api/request'
import { useAsk } from './useAsk'

// useGet is what an address of the interface answers. Nothing is asked while path is
// empty.
export function useGet<T>(path: string, query: Query = {}) {
  const [data, set] = useState<T>()
  const sent = JSON.stringify(query)
  const question = useCallback(async (signal: AbortSignal) => set(path ? await get<T>(path, JSON.parse(sent) as Query, { signal }) : undefined), [path, sent])
  const { loading, reload } = useAsk(question)
  return { data, loading: loading && path !== '', reload, set }
}
