// The token of the signed-in user. It stays in this browser until it ends; the
// server decides whether it still holds.

const key = 'reeve.token'

export function token(): string {
  return localStorage.getItem(key) ?? ''
}

export function begin(value: string): void {
  localStorage.setItem(key, value)
}

// end forgets the token. `back` brings the next sign-in to the page that was open.
export function end(back: boolean): void {
  localStorage.removeItem(key)
  const here = location.pathname + location.search
  location.replace(back && here !== '/console/' ? `/console/?back=${encodeURIComponent(here)}` : '/console/')
}

// follow goes along when another window of this browser signs out, or somebody else in.
export function follow(): void {
  addEventListener('storage', (e) => {
    if (e.key !== key && e.key !== null) return // null: all is cleared
    if (!token()) end(true)
    else if (e.newValue !== e.oldValue) location.reload()
  })
}

// back is where a sign-in leads to: a page of the console and nothing else.
export function back(): string {
  const to = new URLSearchParams(location.search).get('back') ?? ''
  return to.startsWith('/console/') ? to : '/console/'
}
