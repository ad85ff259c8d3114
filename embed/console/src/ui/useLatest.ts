import { type RefObject, useInsertionEffect, useRef } from 'react'

// useLatest is a value as it was last drawn, for what runs later: event handlers,
// timers, and effects, of which this one is the first.
export function useLatest<T>(value: T): RefObject<T> {
  const latest = useRef(value)
  useInsertionEffect(() => {
    latest.current = value
  })
  return latest
}
