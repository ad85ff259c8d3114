import { useCallback, useEffect, useRef, useState } from 'react'
import { moment } from '../api/changes'
import { Failure } from '../api/request'
import { useMissing } from './missing'
import { useReconnect } from './useReconnect'

// useRequest makes a request after rendering, when it changes, and when the server is back. A
// new request cancels the previous one, whose response must not arrive later. The caller
// shows failures, and the old data stays. refresh asks again without that anything shows it;
// fresh is the moment when the newest request began, and touch says that the data is as new as now. failed says that the server could not answer; a bar
// offers to try again.
export function useRequest(question: (signal: AbortSignal, quiet: boolean) => Promise<void>) {
  const [loading, setLoading] = useState(true)
  const [failed, setFailed] = useState(false)
  const asked = useRef<AbortController>(undefined)
  const fresh = useRef(0)

  const ask = useCallback(
    async (quiet: boolean) => {
      asked.current?.abort()
      const now = new AbortController()
      asked.current = now
      fresh.current = moment()
      if (!quiet) setLoading(true)
      try {
        await question(now.signal, quiet)
        if (asked.current === now) setFailed(false)
      } catch (cause) {
        // already shown
        if (asked.current === now && !quiet) setFailed(cause instanceof Failure && !(cause.status >= 400 && cause.status < 429))
      } finally {
        if (asked.current === now) setLoading(false)
      }
    },
    [question],
  )
  const reload = useCallback(() => ask(false), [ask])
  const refresh = useCallback(() => ask(true), [ask])
  const touch = useCallback(() => {
    fresh.current = moment()
  }, [])

  useEffect(() => {
    // biome-ignore lint/nursery/useReactCompiler: a request that has started is shown immediately
    void reload()
    return () => asked.current?.abort()
  }, [reload])

  useReconnect(reload)
  useMissing(failed)
  return { loading, failed, reload, refresh, fresh, touch }
}
