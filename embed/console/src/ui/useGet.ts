import { useCallback } from 'react'
import type { Answer, Path } from '../api/paths'
import { address, get, type Query } from '../api/request'
import { useResponse } from './useResponse'

// useGet loads a path of the API, and keeps the previous response until then, even of another path.
// No request is made while path is empty. With `cached` false, a stored response is not shown when
// the page opens again; for data that is edited as a whole.
export function useGet<P extends Path<'GET'> | ''>(path: P, query: Query = {}, cached = true) {
  type Data = Answer<'GET', Exclude<P, ''>>
  const sent = JSON.stringify(query)
  const question = useCallback((signal: AbortSignal, quiet: boolean) => get(path as Exclude<P, ''>, JSON.parse(sent) as Query, { signal, quiet }), [path, sent])
  const { data, other, ...rest } = useResponse<Data>(path && address(path, query), path, question, cached)
  return { data: path ? (data ?? other) : undefined, ...rest }
}
