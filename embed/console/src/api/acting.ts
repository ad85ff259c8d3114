// Acting as another user. The tab keeps as whom, and names that user in a header of each request;
// other tabs of the browser stay the user's own. A page keeps what it began with: beginning and
// stopping load another one.

const key = 'reeve.acting'
const over = 'reeve.acting_over'

const stored = (): string => globalThis.sessionStorage?.getItem(key) ?? ''

// actingAs is the ID of the user as whom this page acts; '' for nobody.
export const actingAs = stored()

// unheard are the requests that are always the user's own.
const unheard = ['/admin/act-as', '/admin/logout']

// actingHeaders are the headers by which a request is made as that user.
export const actingHeaders = (path: string): Record<string, string> => (actingAs && !unheard.includes(path) ? { 'X-Act-As': actingAs } : {})

// beginActing opens the console as a user.
export function beginActing(id: number): void {
  sessionStorage.setItem(key, String(id))
  location.assign('/console/')
}

// stopActing opens the console as oneself. With `told`, it says so, since the server has ended it.
export function stopActing(told = false): void {
  forgetActing()
  if (told) sessionStorage.setItem(over, '1')
  location.replace('/console/')
}

export const forgetActing = (): void => globalThis.sessionStorage?.removeItem(key)

// isOver reports once whether the server has ended it.
export function isOver(): boolean {
  const was = sessionStorage.getItem(over) !== null
  sessionStorage.removeItem(over)
  return was
}

// followActing reloads a page that the browser has kept from before, when the user goes back to it.
export function followActing(): void {
  addEventListener('pageshow', (e) => {
    if (e.persisted && stored() !== actingAs) location.reload()
  })
}
