import { type Commit, failureOf, note, pause, ReeveError, warn } from './send.js'
import type { WebhookData } from './webhook.js'

/** A change that {@link Reeve.events} has received. */
export interface StreamEvent {
  /** Position after which `after` continues. */
  id: string
  /** Type, such as `user.updated`; `open` for the first one. */
  type: string
  /** Time of the change, RFC 3339; empty for `open`. */
  timestamp: string
  /** The change; of `open`, {@link StreamOpened}. */
  data: WebhookData
}

/** Which of the wanted types of events can come. */
export interface StreamOpened {
  /** Types that can come. */
  types: string[]
  /** Those of them that come only for some records, such as those in the data scope. */
  limited: string[]
  /** Types that can't come; `permission` is what the key lacks, absent if none would do. */
  missing: { type: string; permission?: string; reason: string }[]
  /** 1 if the data scope of the key is all. */
  all: 0 | 1
}

/** Options of {@link Reeve.events}. */
export interface EventsOptions {
  /** Ends the events, without an error. */
  signal?: AbortSignal | undefined
  /** Position to continue from, the ID of the last event that was processed; now if it is absent or empty. */
  after?: string | undefined
}

const idle = 45_000 // milliseconds of silence after which a stream is dead; a comment comes every 15 s
const maxLine = 16 << 20 // characters
const maxPause = 30_000

/** Sends a request for a stream. */
type Connect = (path: string, headers: Record<string, string>, signal: AbortSignal) => Promise<Response>

interface Frame {
  id: string
  type: string
  data: string
}

/** Follows events; see {@link Reeve.events}. */
export async function* follow(
  connect: Connect,
  timeout: number,
  types: readonly string[],
  { signal, after = '' }: EventsOptions,
  commit: Commit,
): AsyncGenerator<StreamEvent, void, undefined> {
  const query = types.length ? `?${new URLSearchParams({ types: types.join() })}` : ''
  let last = after
  let retry = 1000
  let failures = 0
  let opened = false
  while (!signal?.aborted) {
    const stop = new AbortController()
    const end = () => stop.abort()
    let timer: ReturnType<typeof setTimeout> | undefined
    const alive = (milliseconds: number) => {
      clearTimeout(timer)
      timer = setTimeout(end, milliseconds)
    }
    let wait = 0
    signal?.addEventListener('abort', end)
    try {
      alive(timeout)
      const headers = {
        Accept: 'text/event-stream',
        ...(last && { 'Last-Event-ID': last }),
        ...(commit.at && { 'Reeve-Commit': commit.at }),
      }
      const response = await connect(`/system/event${query}`, headers, stop.signal)
      for await (const frame of frames(
        response,
        last,
        () => alive(idle),
        (milliseconds) => (retry = milliseconds),
      )) {
        last = frame.id
        if (!frame.data) continue // a heartbeat, which has a position only
        const data = decode(frame.data)
        note(commit, data.commit)
        if (frame.type === 'open') {
          failures = 0
          check(types, data as unknown as StreamOpened, opened)
          if (opened) continue
          opened = true
        }
        clearTimeout(timer) // while the caller processes the event
        yield { id: last, type: frame.type, timestamp: data.at ?? '', data }
        alive(idle)
      }
    } catch (error) {
      if (signal?.aborted) return
      if (error instanceof ReeveError && isFinal(error, opened)) throw error
      warn('events cannot be read; trying again', `${error}`)
      wait = error instanceof ReeveError ? Math.min(300, error.retryAfter ?? 0) * 1000 : 0
    } finally {
      clearTimeout(timer)
      signal?.removeEventListener('abort', end)
      end() // the caller may have left its loop
    }
    const next = Math.min(maxPause, retry * 2 ** failures++) + Math.random() * retry
    await pause(Math.max(wait, next), signal).catch(() => {})
  }
}

// isFinal reports whether another attempt would fail in the same way. What does not come from Reeve may be of a proxy
// while Reeve restarts, unless it is the first response.
function isFinal({ status, code }: ReeveError, opened: boolean): boolean {
  if ([401, 403, 422].includes(status)) return true
  if (status === 0 || status === 429 || status >= 500) return false
  return code !== 'bad_response' || !opened
}

function decode(text: string): WebhookData {
  try {
    return JSON.parse(text)
  } catch (cause) {
    throw new ReeveError('an event has another form than expected; is the URL right?', { status: 200, code: 'bad_response', cause })
  }
}

// check throws an error if no event of one of the wanted types can come, so that the caller does not wait in vain. It
// warns if only some of several types can come.
function check(types: readonly string[], { types: come = [], missing = [] }: StreamOpened, opened: boolean): void {
  for (const want of types) {
    const matches = (type: string) => type === want || (want.endsWith('*') && type.startsWith(want.slice(0, -1)))
    const first = missing.find(({ type }) => matches(type))
    if (first && !come.some(matches)) throw new ReeveError(`no event of the type ${want} can come: ${first.reason}`, { status: 403, code: 'forbidden' })
  }
  if (types.length && missing.length && !opened) warn('some of the events cannot come', missing.map(({ type, reason }) => `${type}: ${reason}`).join('; '))
}

// frames reads events in the format of Server-Sent Events. alive is called for everything that comes, and delay with
// the pause that the server asks for.
async function* frames(response: Response, last: string, alive: () => void, delay: (milliseconds: number) => void): AsyncGenerator<Frame, void, undefined> {
  const { status, headers, body, url } = response
  if (status !== 200 || !/^text\/event-stream\b/.test(headers.get('content-type') ?? '') || !body) {
    throw failureOf(url || 'the server', status, headers, await response.text())
  }
  const reader = body.getReader()
  const decoder = new TextDecoder()
  let rest = ''
  let frame: Frame = { id: last, type: '', data: '' }
  for (;;) {
    const { done, value } = await reader.read()
    if (done) return
    alive()
    const lines = (rest + decoder.decode(value, { stream: true })).split('\n')
    rest = lines.pop() ?? ''
    if (rest.length > maxLine) throw new ReeveError('an event is too long', { status, code: 'too_large' })
    for (const line of lines.map((text) => text.replace(/\r$/, ''))) {
      const [, field = '', text = ''] = /^([^:]*)(?:: ?(.*))?$/.exec(line) ?? []
      if (field === 'id') frame.id = text
      else if (field === 'event') frame.type = text
      else if (field === 'data') frame.data += text
      else if (field === 'retry' && Number(text) > 0) delay(Math.min(maxPause, Number(text)))
      else if (line === '') {
        yield frame
        frame = { id: frame.id, type: '', data: '' }
      }
    }
  }
}
