import { type SetStateAction, useCallback, useEffect, useState } from 'react'
import { Failure } from '../api/request'
import { recall, remember } from './answers'
import { useAsk } from './useAsk'

type Given<T> = { key: string; data: T | undefined }

// refused are the statuses with which an answer from before is no longer one's to see.
const refused = [401, 403, 404]

// useAnswer is the answer to a question that key stands for: the last one at once, and
// then what is answered now. Nothing is asked while key is empty. An answer of undefined
// changes nothing. With `again` unset, nothing is shown but what is answered now.
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
    other: given?.data, // the answer to the question before, until there is one to this
    loading: loading && key !== '' && before === undefined,
    reload,
    set,
  }
}
