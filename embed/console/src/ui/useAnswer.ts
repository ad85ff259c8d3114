import { type SetStateAction, useCallback, useEffect, useState } from 'react'
import { Failure } from '../api/request'
import { recall, remember } from './answers'
import { useAsk } from './useAsk'

type Given<T> = { key: string; data: T | undefined }

// refused are the statuses after which an earlier response must no longer be shown.
const refused = [401, 403, 404]

// useAnswer returns the response to the request that key stands for: the last one
// immediately, then the current one. No request is made while key is empty. A response of
// undefined changes nothing. With `again` false, only the current response is shown.
export function useAnswer<T>(key: string, question: (signal: AbortSignal) => Promise<T | undefined>, again = true) {
  const [given, setGiven] = useState<Given<T>>()

  const ask = useCallback(
    async (signal: AbortSignal) => {
      if (!key) return setGiven(undefined)
      try {
        const data = await question(signal)
        if (data !== undefined) setGiven({ key, data })
      } catch (cause) {
        if (cause instanceof Failure && refused.includes(cause.status)) remember(key, undefined)
        throw cause
      }
    },
    [key, question],
  )
  const { loading, reload } = useAsk(ask)
  useEffect(() => {
    if (given) remember(given.key, given.data)
  }, [given])

  const set = useCallback(
    (next: SetStateAction<T | undefined>) =>
      setGiven((now) => ({ key, data: next instanceof Function ? next(now?.key === key ? now.data : recall<T>(key)) : next })),
    [key],
  )

  const now = given?.key === key
  const before = !now && again && key ? recall<T>(key) : undefined
  return {
    data: now ? given.data : before,
    other: given?.data, // the response to the previous request, until the current one arrives
    loading: loading && key !== '' && before === undefined,
    reload,
    set,
  }
}
