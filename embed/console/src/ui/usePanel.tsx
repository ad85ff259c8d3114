import { type ReactNode, Suspense, useState, useSyncExternalStore } from 'react'

type State<T> = { of?: T; open: boolean }

type Shown<T> = {
  show: (of: T) => void
  hide: () => void
  forget: () => void
  state: () => State<T>
  subscribe: (listener: () => void) => () => void
}

// The state of a panel is outside of the page, which would otherwise render again, with all rows of its list,
// whenever the panel opens or closes.
function panel<T>(): Shown<T> {
  let state: State<T> = { open: false }
  const listeners = new Set<() => void>()
  const become = (next: State<T>) => {
    state = next
    for (const listener of listeners) listener()
  }
  return {
    show: (of) => become({ of, open: true }),
    hide: () => become({ of: state.of, open: false }),
    forget: () => become({ open: state.open }),
    state: () => state,
    subscribe: (listener) => {
      listeners.add(listener)
      return () => void listeners.delete(listener)
    },
  }
}

// usePanel is a drawer or dialog with its subject, which stays when it closes, until it is forgotten. A Panel shows it.
export function usePanel<T>(): Shown<T> {
  return useState<Shown<T>>(panel)[0]
}

type Props<T> = { of: Shown<T>; children: (of: T, open: boolean) => ReactNode }

// Panel is the place of a panel in the page: nothing until it is first shown.
export function Panel<T>({ of: { subscribe, state }, children }: Props<T>) {
  const { of, open } = useSyncExternalStore(subscribe, state)
  return of !== undefined && <Suspense>{children(of, open)}</Suspense>
}
