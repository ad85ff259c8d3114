import { useSyncExternalStore } from 'react'

// Dark or light: as the system has it, unless the user has said otherwise.

export type Mode = 'system' | 'dark' | 'light'

const key = 'reeve.mode'
const query = matchMedia('(prefers-color-scheme: dark)')
const listeners = new Set<() => void>()

export function mode(): Mode {
  const stored = localStorage.getItem(key)
  return stored === 'dark' || stored === 'light' ? stored : 'system'
}

export function setMode(to: Mode): void {
  localStorage.setItem(key, to)
  for (const told of listeners) told()
}

function isDark(): boolean {
  const now = mode()
  const dark = now === 'system' ? query.matches : now === 'dark'
  document.documentElement.style.colorScheme = dark ? 'dark' : 'light'
  return dark
}

function subscribe(told: () => void): () => void {
  listeners.add(told)
  query.addEventListener('change', told)
  return () => {
    listeners.delete(told)
    query.removeEventListener('change', told)
  }
}

export function usePrefersDark(): boolean {
  return useSyncExternalStore(subscribe, isDark)
}
