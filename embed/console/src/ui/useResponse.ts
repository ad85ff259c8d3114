import { type SetStateAction, useCallback, useEffect, useState } from 'react'
import { Failure } from '../api/request'
import { recall, remember } from './answers'
import { topicsOf } from './topics'
import { useRequest } from './useRequest'
import { useChanges } from './useChanges'

type Given<T> = { key: string; data: T | undefined }

// refused are the statuses after which an earlier response must no longer be shown.
const refused = [401, 403, 404]

// useResponse returns the response to the request that key stands for: the last one
// immediately, then the current one. No request is made while key is empty. A response of
// undefined changes nothing. With `cached` false, only the current response is shown. path is
// what is requested: if it is a list, changes by others appear.
export function useResponse<T>(key: string, path: string, question: (signal: AbortSignal, quiet: boolean) => Promise<T | undefined>, cached = true) {
  const [given, setGiven] = useState<Given<T>>()

  const ask = useCallback(
    async (signal: AbortSignal, quiet: boolean) => {
      if (!key) return setGiven(undefined)
      try {
        const data = await question(signal, quiet)
        if (data !== undefined) setGiven({ key, data })
      } catch (cause) {
        if (cause instanceof Failure && refused.includes(cause.status)) remember(key, undefined)
        throw cause
      }
    },
    [key, question],
  )
  const { loading, failed, reload, refresh, fresh, touch } = useRequest(ask)
  useChanges(key ? topicsOf(path) : undefined, refresh, fresh)
  useEffect(() => {
    if (given) remember(given.key, given.data)
  }, [given])

  const set = useCallback(
    (next: SetStateAction<T | undefined>) => {
      touch()
      setGiven((now) => ({ key, data: next instanceof Function ? next(now?.key === key ? now.data : recall<T>(key)) : next }))
    },
    [key, touch],
  )

  const now = given?.key === key
  const before = !now && cached && key ? recall<T>(key) : undefined
  const data = now ? given.data : before
  return {
    data,
    other: given?.data, // the response to the previous request, until the current one arrives
    // What could not be loaded is not empty either.
    loading: key !== '' && ((loading && before === undefined) || (failed && data === undefined)),
    reload,
    refresh,
    fresh,
    set,
  }
}
