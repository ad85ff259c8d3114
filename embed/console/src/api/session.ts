import { forgetActing } from './acting'

// Token of the signed-in user. It stays in this browser until the session ends; the server
// decides whether it is valid.

const key = 'reeve.token'

export function token(): string {
  return localStorage.getItem(key) ?? ''
}

export function begin(value: string): void {
  localStorage.setItem(key, value)
}

// end deletes the token. `back` returns to the current page after the next sign-in.
export function end(back: boolean): void {
  localStorage.removeItem(key)
  forgetActing()
  const here = location.pathname + location.search
  location.replace(back && here !== '/console/' ? `/console/?back=${encodeURIComponent(here)}` : '/console/')
}

// follow reacts when another window of this browser signs out or signs in another user.
export function follow(): void {
  addEventListener('storage', (e) => {
    if (e.key !== key && e.key !== null) return // null: the storage was cleared
    if (!token()) end(true)
    else if (e.newValue !== e.oldValue) location.reload()
  })
}

// back is the page to open after sign-in, always a page of the console: the one that was left, or
// the one whose link was opened.
export function back(): string {
  const to = new URLSearchParams(location.search).get('back') ?? location.pathname + location.search
  return to.startsWith('/console/') && to !== '/console/password' ? to : '/console/'
}
