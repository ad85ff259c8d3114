import { useCallback, useEffect, useRef, useState } from 'react'
import { useBack } from './useBack'

// useAsk asks the interface once it is drawn, whenever the question is another one, and
// when the server was away and is back. A new question ends the one before it, whose
// answer must not overtake. Failures are shown by who asks, and what was there stays.
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
      // it is shown
    } finally {
      if (asked.current === now) setLoading(false)
    }
  }, [question])

  useEffect(() => {
    // biome-ignore lint/nursery/useReactCompiler: a question that has begun is shown at once
    void reload()
    return () => asked.current?.abort()
  }, [reload])

  useBack(reload)
  return { loading, reload }
}
