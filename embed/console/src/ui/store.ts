import { useSyncExternalStore } from 'react'

// store holds a value outside of components and notifies those that use it.
export function store<T>(value: T) {
  const listeners = new Set<() => void>()
  const get = () => value
  const subscribe = (told: () => void) => {
    listeners.add(told)
    return () => void listeners.delete(told)
  }
  const set = (next: T): void => {
    value = next
    for (const told of listeners) told()
  }
  return { get, set, subscribe, use: () => useSyncExternalStore(subscribe, get) }
}
