import { type ReactNode, useSyncExternalStore } from 'react'

// What a page docks stands above all pages, and stays while others are opened.

let docked: ReactNode = null
const listeners = new Set<() => void>()

export function dock(what: ReactNode): void {
  docked = what
  for (const told of listeners) told()
}

function subscribe(told: () => void): () => void {
  listeners.add(told)
  return () => void listeners.delete(told)
}

export function useDocked(): ReactNode {
  return useSyncExternalStore(subscribe, () => docked)
}
