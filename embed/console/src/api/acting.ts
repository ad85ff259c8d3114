// Acting as another user. The tab keeps as whom, and names that user in a header of each request;
// other tabs of the browser stay the user's own. A page keeps what it began with: beginning and
// stopping load another one.

import { consoleURL } from './base'

const key = 'reeve.acting'
const endedKey = 'reeve.acting_over'

const stored = (): string => globalThis.sessionStorage?.getItem(key) ?? ''

// actingAs is the ID of the user whom this page impersonates; '' if none.
export const actingAs = stored()

// alwaysOwn are the requests that are the user's own in any case.
const alwaysOwn = ['/admin/act-as', '/admin/logout']

// actingHeaders are the headers by which a request is made as that user.
export const actingHeaders = (path: string): Record<string, string> => (actingAs && !alwaysOwn.includes(path) ? { 'X-Act-As': actingAs } : {})

// beginActing opens the console as a user.
export function beginActing(id: number): void {
  sessionStorage.setItem(key, String(id))
  location.assign(consoleURL())
}

// stopActing opens the console as oneself. With `told`, it says so, since the server has ended it.
export function stopActing(told = false): void {
  forgetActing()
  if (told) sessionStorage.setItem(endedKey, '1')
  location.replace(consoleURL())
}

export const forgetActing = (): void => globalThis.sessionStorage?.removeItem(key)

// takeEnded reports whether the server has ended it, once.
export function takeEnded(): boolean {
  const was = sessionStorage.getItem(endedKey) !== null
  sessionStorage.removeItem(endedKey)
  return was
}

// followActing reloads a page that the browser has kept from before, when the user goes back to it.
export function followActing(): void {
  addEventListener('pageshow', (e) => {
    if (e.persisted && stored() !== actingAs) location.reload()
  })
}
