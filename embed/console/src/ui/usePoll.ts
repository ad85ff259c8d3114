import { useEffect } from 'react'
import { present } from './presence'
import { useLatest } from './useLatest'

// usePoll calls refresh every few seconds while on and while the user is present, for what
// changes without events.
export function usePoll(refresh: () => unknown, seconds: number, on: boolean): void {
  const latest = useLatest(refresh)
  useEffect(() => {
    if (!on) return
    const timer = setInterval(() => {
      if (present()) latest.current()
    }, seconds * 1000)
    return () => clearInterval(timer)
  }, [seconds, on])
}
