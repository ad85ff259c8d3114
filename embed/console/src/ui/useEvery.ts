import { useCallback, useEffect, useRef, useState } from 'react'
import { every } from '../api/every'

// useEvery is all records of a list of the interface, for pages that search and order
// them without asking again. Nothing is asked while path is empty. A failure is shown,
// and what was there stays.
export function useEvery<T>(path: string) {
  const [answer, setAnswer] = useState<{ path: string; rows: T[] }>()
  const [loading, setLoading] = useState(path !== '')
  const asked = useRef<AbortController>(undefined)

  const reload = useCallback(async () => {
    asked.current?.abort() // the answer to an older question must not overtake
    if (!path) return
    const question = new AbortController()
    asked.current = question
    setLoading(true)
    try {
      setAnswer({ path, rows: await every<T>(path, {}, question.signal) })
    } catch {
      // it is shown
    } finally {
      if (asked.current === question) setLoading(false)
    }
  }, [path])

  useEffect(() => {
    void reload()
    return () => asked.current?.abort()
  }, [reload])

  const set = useCallback((edit: (rows: T[]) => T[]) => setAnswer((now) => now && { ...now, rows: edit(now.rows) }), [])
  return { rows: answer?.path === path ? answer.rows : undefined, loading, reload, set }
}
