import { get } from './request'
import type { Info } from './types'

// Requests the signed-in user's account while the console itself is still loading.

let asked: Promise<Info> | undefined

export function askEarly(): void {
  asked = get('/admin/info', {}, { quiet: true })
  asked.catch(() => {}) // requested again later, and reported then
}

// early returns that response to the first caller.
export function early(): Promise<Info> | undefined {
  const first = asked
  asked = undefined
  return first
}
