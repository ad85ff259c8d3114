import { useCallback } from 'react'
import type { Answer, Path } from '../api/paths'
import { address, get, type Query } from '../api/request'
import { useAnswer } from './useAnswer'

// useGet is what an address of the interface answers, and until then what was answered
// before, by another address too. Nothing is asked while path is empty. With `again`
// unset an answer is not shown when the page is opened again, for what is edited whole.
export function useGet<P extends Path<'GET'> | ''>(path: P, query: Query = {}, again = true) {
  type Data = Answer<'GET', Exclude<P, ''>>
  const sent = JSON.stringify(query)
  const question = useCallback((signal: AbortSignal) => get(path as Exclude<P, ''>, JSON.parse(sent) as Query, { signal }), [path, sent])
  const { data, other, loading, reload, set } = useAnswer<Data>(path && address(path, query), question, again)
  return { data: path ? (data ?? other) : undefined, loading, reload, set }
}
