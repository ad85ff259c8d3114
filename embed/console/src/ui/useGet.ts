import { useCallback, useEffect, useRef, useState } from 'react'
import { get, type Query } from '../api/request'
import { useBack } from './useBack'

// useGet is what an address of the interface answers, asked again whenever the
// question changes. Nothing is asked while path is empty. A failure is shown, and
// what was there stays.
export function useGet<T>(path: string, query: Query = {}) {
  const [data, setData] = useState<T>()
  const [loading, setLoading] = useState(path !== '')
  const asked = useRef<AbortController>(undefined)
  const question = JSON.stringify(query)

  const reload = useCallback(async () => {
    asked.current?.abort() // the answer to an older question must not overtake
    if (!path) {
      setData(undefined)
      return
    }
    const now = new AbortController()
    asked.current = now
    setLoading(true)
    try {
      setData(await get<T>(path, JSON.parse(question) as Query, { signal: now.signal }))
    } catch {
      // it is shown
    } finally {
      if (asked.current === now) setLoading(false)
    }
  }, [path, question])

  useEffect(() => {
    void reload()
    return () => asked.current?.abort()
  }, [reload])

  useBack(reload)

  return { data, loading, reload, set: setData }
}
