import { actingAs, forgetActing } from './acting'
import { base, consoleURL } from './base'

// The session is in a cookie that scripts cannot read, so a script that gets into a page cannot
// carry it away. Only the server sets and deletes it. The browser stores a mark beside it: the time
// of the sign-in, which is no secret. By the mark a page knows whether to show the sign-in page, and
// other tabs notice that a session has begun or ended.
//
// Where the two differ, the server decides. A mark without a session ends with the first 401. A
// session without a mark (the storage was cleared, or another page of this host has signed in) shows
// the sign-in page, and the next sign-in replaces its cookie: asking the server first would be an
// error in the browser's console and in monitoring for everybody who is just not signed in.

const key = `reeve.signed_in${base}` // another server can be below another path of this host
const pending = `reeve.sign_out${base}`
const why = 'reeve.ended'

// keptPrefix is what the names of stored input of forms begin with: see ui/kept.ts.
export const keptPrefix = `reeve.kept${base} `

// mark identifies this browser's session among its sessions; '' if there is none: it is stored empty when the session has
// lapsed, so that other tabs can ask for a sign-in instead of leaving, too, and it is absent after a sign-out.
export const mark = (): string => localStorage.getItem(key) ?? ''

// hasSignedOut reports whether the user has signed out in some tab; a session that has lapsed can go on.
export const hasSignedOut = (): boolean => localStorage.getItem(key) === null

export function begin(): void {
  localStorage.removeItem(pending)
  sessionStorage.removeItem(why)
  localStorage.setItem(key, String(Date.now()))
}

// end leaves the page, whose session has ended. `back` returns to it after the next sign-in; without it, what was typed is
// deleted, too. code is the error code for
// which the server has rejected the session, next another page to open.
export function end(back: boolean, code = '', next = ''): void {
  if (code) sessionStorage.setItem(why, code)
  else sessionStorage.removeItem(why)
  localStorage.removeItem(key)
  if (!back) for (const name of Object.keys(localStorage)) if (name.startsWith(keptPrefix)) localStorage.removeItem(name)
  forgetActing()
  const here = location.pathname + location.search
  location.replace(next || (back && here !== consoleURL() ? `${consoleURL()}?back=${encodeURIComponent(here)}` : consoleURL()))
}

// Ask lets the user of the page sign in without leaving it, and resolves once this user has.
export type Ask = (code: string) => Promise<void>

let ask: Ask | undefined
let asking: Promise<boolean> | undefined

// askBy sets how to ask for a sign-in, once the page knows its user. Before, and while acting as another user, which ends with
// the session, a page is left.
export function askBy(how: Ask): void {
  ask = how
}

// signedIn waits while the user signs in again.
export const signedIn = async (): Promise<void> => void (await asking)

// again asks for a sign-in, and reports whether the user of the page has signed in. Otherwise the page is left.
function again(code: string): Promise<boolean> {
  if (ask && !actingAs) {
    asking ??= ask(code)
      .then(() => true)
      .finally(() => {
        asking = undefined
      })
    return asking
  }
  end(true, code)
  return Promise.resolve(false)
}

// lapse handles a session that the server has rejected, unless another one has begun since. It reports whether the user has
// signed in again.
export function lapse(of: string, code: string): Promise<boolean> {
  if (asking) return asking
  if (mark() !== of) return Promise.resolve(false)
  localStorage.setItem(key, '')
  return again(code)
}

// endedBy returns the error code for which the last session of this tab was rejected; '' if it was not.
export const endedBy = (): string => sessionStorage.getItem(why) ?? ''

// isPending reports whether the user has signed out while the server did not answer, so that the
// cookie still has to be deleted.
export const isPending = (): boolean => localStorage.getItem(pending) !== null

export function setPending(on: boolean): void {
  if (on) localStorage.setItem(pending, '1')
  else localStorage.removeItem(pending)
}

// follow reacts when another window of this browser signs out or in, or its session lapses.
export function follow(): void {
  addEventListener('storage', (e) => {
    if (e.key !== key && e.key !== null) return // null: the storage was cleared
    if (localStorage.getItem(key) === null) end(true)
    else if (e.newValue !== e.oldValue) void again('')
  })
}

// back is the page to open after sign-in, always a page of the console: the one that was left, or
// the one whose link was opened.
export function back(): string {
  const to = new URLSearchParams(location.search).get('back') ?? location.pathname + location.search
  return to.startsWith(consoleURL()) && to !== consoleURL('password') ? to : consoleURL()
}
