import { useCallback, useEffect, useRef, useState } from 'react'
import { useBack } from './useBack'

// useAsk makes a request after rendering, when it changes, and when the server is back. A
// new request cancels the previous one, whose response must not arrive later. The caller
// shows failures, and the old data stays.
export function useAsk(question: (signal: AbortSignal) => Promise<void>) {
  const [loading, setLoading] = useState(true)
  const asked = useRef<AbortController>(undefined)

  const reload = useCallback(async () => {
    asked.current?.abort()
    const now = new AbortController()
    asked.current = now
    setLoading(true)
    try {
      await question(now.signal)
    } catch {
      // already shown
    } finally {
      if (asked.current === now) setLoading(false)
    }
  }, [question])

  useEffect(() => {
    // biome-ignore lint/nursery/useReactCompiler: a request that has started is shown immediately
    void reload()
    return () => asked.current?.abort()
  }, [reload])

  useBack(reload)
  return { loading, reload }
}
