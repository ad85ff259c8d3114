import { store } from './store'

// Dark or light mode: the system's, unless the user has selected one.

export type Mode = 'system' | 'dark' | 'light'

const key = 'reeve.mode'
const query = matchMedia('(prefers-color-scheme: dark)')

export function mode(): Mode {
  const stored = localStorage.getItem(key)
  return stored === 'dark' || stored === 'light' ? stored : 'system'
}

export function setMode(to: Mode): void {
  localStorage.setItem(key, to)
  dark.set(isDark())
}

function isDark(): boolean {
  const now = mode()
  const dark = now === 'system' ? query.matches : now === 'dark'
  document.documentElement.style.colorScheme = dark ? 'dark' : 'light'
  return dark
}

const dark = store(isDark())
query.addEventListener('change', () => dark.set(isDark()))

export const usePrefersDark = dark.use
