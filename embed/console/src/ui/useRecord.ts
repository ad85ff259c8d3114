import { useCallback, useRef, useState } from 'react'
import { flushSync } from 'react-dom'
import { Failure } from '../api/request'
import { useRequest } from './useRequest'

// Leave deletes what a page shows, and goes to another page.
export type Leave = (remove: () => Promise<void>) => Promise<void>

// useRecord reads the one record that a page shows. find returns undefined if there is none. read is the
// last one that was found; failure is that of the newest request. While removing deletes the record, and
// after it, the page does not ask for it again, and read is undefined.
export function useRecord<T, K>(find: (key: K, signal: AbortSignal) => Promise<T | undefined>, key: K) {
  const [read, setRead] = useState<T>()
  const [failure, setFailure] = useState<Failure>()
  const left = useRef<K>(undefined)
  const question = useCallback(
    async (signal: AbortSignal) => {
      if (left.current === key) return
      try {
        const found = await find(key, signal)
        setRead(found)
        setFailure(found ? undefined : new Failure(404, 'not_found', '', 0))
      } catch (cause) {
        if (cause instanceof Failure && left.current !== key) setFailure(cause)
        throw cause
      }
    },
    [find, key],
  )
  const removing = useCallback(
    async (remove: () => Promise<void>) => {
      left.current = key
      try {
        await remove()
        flushSync(() => setRead(undefined)) // before the event arrives, since nothing else on the page may ask about it either
      } catch (cause) {
        left.current = undefined
        throw cause
      }
    },
    [key],
  )
  return { read, failure, removing, ...useRequest(question) }
}
