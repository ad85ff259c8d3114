import { get } from './request'
import type { Info } from './types'

// Who is signed in is asked for while the console itself is still loading.

let asked: Promise<Info> | undefined

export function askEarly(): void {
  asked = get('/admin/info', {}, { quiet: true })
  asked.catch(() => {}) // it is asked again, and then it is shown
}

// early is that answer, for whoever asks first.
export function early(): Promise<Info> | undefined {
  const first = asked
  asked = undefined
  return first
}
