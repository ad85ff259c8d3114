import { base } from './base'
import { actingHeaders } from './acting'
import { failureIn, language } from './request'
import { type Message, parser } from './sse'

// The event stream of the server. EventSource tells neither the status of a failure nor that a
// connection has gone silent, so it is read with fetch.

// Change is a change of one record by anybody.
export type Change = {
  id: string
  at: string
  type: string
  collection: string
  record: number
  name?: string
  operation: 'create' | 'update' | 'delete'
  commit?: string // of several nodes, the position that a request must name in order to read the change
  own?: 0 | 1 // whether this session has made it
  actor?: { kind: string; id?: number; name?: string } // for users who may read the change log
}

const silence = 40_000 // in milliseconds: the server sends a heartbeat every 15 s

// read reads the stream from the position after `last` until it ends. It returns the status of
// the response, 0 without one, and the error code of a rejection.
export async function read(last: string, signal: AbortSignal, tell: (message: Message) => void): Promise<{ status: number; code?: string }> {
  const control = new AbortController()
  const stop = () => control.abort()
  signal.addEventListener('abort', stop)
  let wait = setTimeout(stop, silence)
  try {
    const headers: Record<string, string> = { Accept: 'text/event-stream', 'Accept-Language': language(), ...actingHeaders('/system/event') }
    if (last) headers['Last-Event-ID'] = last
    const response = await fetch(`${base}/system/event`, { headers, cache: 'no-store', signal: control.signal })
    const { status } = response
    if (status === 401 || status === 403) return { status, code: failureIn(status, await response.text()).code }
    if (!response.ok || !response.body) {
      control.abort() // the rest is not read
      return { status }
    }
    const take = parser(tell)
    const decoder = new TextDecoder()
    const reader = response.body.getReader()
    for (;;) {
      const { done, value } = await reader.read()
      if (done) return { status }
      clearTimeout(wait)
      wait = setTimeout(stop, silence)
      take(decoder.decode(value, { stream: true }))
    }
  } catch {
    return { status: 0 } // no response, or the connection broke
  } finally {
    clearTimeout(wait)
    signal.removeEventListener('abort', stop)
  }
}

// pause is the time before the next attempt after n failures, in milliseconds: 1 s at first, and
// up to 60 s. chance is a random number below 1, since all consoles lose a server at once.
export const pause = (n: number, chance: number): number => Math.min(1000 * 2 ** n, 60_000) * (0.75 + chance / 4)
