import { type RefObject, useInsertionEffect, useRef } from 'react'

// useLatest is a ref to the value of the last render, for event handlers, timers, and
// effects after this one.
export function useLatest<T>(value: T): RefObject<T> {
  const latest = useRef(value)
  useInsertionEffect(() => {
    latest.current = value
  })
  return latest
}
