/** A call that has failed. Its texts never contain the key or token. */
export class ReeveError extends Error {
  /** HTTP status; 0 if there was no response. */
  declare readonly status: number
  /**
   * Stable code such as `stale` or `already_done`; `unreachable` or `timeout` without a response,
   * `bad_response` for a response that is not Reeve's.
   */
  declare readonly code: string
  /** What is wrong with each field of the request, by name. */
  declare readonly errors: Record<string, string>
  /** ID by which monitoring and the log of the server have the request; empty if there is none. */
  declare readonly requestId: string
  /** Seconds after which to try again; undefined if the server has not said it. */
  declare readonly retryAfter: number | undefined

  constructor(message: string, detail: Pick<ReeveError, 'status' | 'code'> & Partial<ReeveError>) {
    super(message, detail)
    Object.assign(this, { name: 'ReeveError', errors: {}, requestId: '' }, detail)
  }
}

/** A request that can be sent several times. */
export interface Sending {
  method: string
  url: string
  headers: Record<string, string>
  body: string | undefined
  /** Cancels the request; {@link send} then rejects with its reason. */
  signal?: AbortSignal | undefined
  /** Milliseconds for one attempt. */
  timeout: number
  /** Maximum number of further attempts. */
  retries: number
  /** Whether it does the same when it is carried out twice. */
  repeatable: boolean
  fetch: typeof fetch
  /** Position of the last write, which the request sends and a response replaces. */
  commit: Commit
}

/** Position of the last write, such as `EPOCH-7`: any node of Reeve that gets it has that write. */
export type Commit = { at?: string }

/** A response with its whole body. */
export interface Received {
  /** HTTP status; 0 if there was no response. */
  status: number
  headers: Headers
  text: string
  /** The failure; undefined for 2xx and 304. */
  error?: ReeveError | undefined
}

/**
 * Sends a request, and repeats it after failures that may pass. Resolves with the last response, also if it
 * is an error; rejects only if the signal is aborted.
 */
export async function send(r: Sending): Promise<Received> {
  for (let attempt = 0; ; attempt++) {
    const received = await sendOnce(r)
    const { status = 200, code = '', retryAfter = 0 } = received.error ?? {}
    // What must not be carried out twice is repeated only if the server has not carried it out. Proxies answer 503,
    // too, some of them after the request was sent on.
    const refused = status === 503 && !/^(bad_response|write_outcome_unknown)$/.test(code)
    const passes = status === 429 || (r.repeatable ? [0, 502, 503, 504].includes(status) : refused)
    if (!passes || !(attempt < r.retries) || retryAfter > 10) return received
    await pause(retryAfter * 1000 || 100 * 2 ** attempt * (0.5 + Math.random()), r.signal)
  }
}

/** Waits for some milliseconds; rejects with the reason of the signal when that is aborted. */
export async function pause(milliseconds: number, signal?: AbortSignal): Promise<void> {
  await new Promise<void>((resolve) => {
    const end = after(milliseconds, signal, () => resolve(end()))
  })
  signal?.throwIfAborted()
}

// after calls a function after some milliseconds, or when a signal is aborted. The result ends this.
// AbortSignal.any leaks signals, or loses them, in some versions of Node.
function after(milliseconds: number, signal: AbortSignal | undefined, fn: () => void): () => void {
  signal?.throwIfAborted()
  const timer = setTimeout(fn, milliseconds)
  signal?.addEventListener('abort', fn)
  return () => {
    clearTimeout(timer)
    signal?.removeEventListener('abort', fn)
  }
}

// note keeps the position of a response or an event, unless it is an older one of the same epoch.
export function note(commit: Commit, at: string | null | undefined): void {
  const last = commit.at ?? ''
  if (at && (at.split('-')[0] !== last.split('-')[0] || (at.length - last.length || Number(at > last)) > 0)) commit.at = at
}

async function sendOnce({ url, timeout, signal, fetch, commit, ...init }: Sending): Promise<Received> {
  const stop = new AbortController()
  const end = after(timeout, signal, () => stop.abort())
  try {
    if (commit.at) init.headers['Reeve-Commit'] = commit.at
    // A redirect could lead the credential to another server.
    const response = await fetch(url, { ...(init as RequestInit), signal: stop.signal, redirect: 'manual', credentials: 'omit' })
    const { ok, status, headers } = response
    note(commit, headers.get('Reeve-Commit'))
    const text = await response.text()
    return { status, headers, text, error: ok || status === 304 ? undefined : failureOf(url, status, headers, text) }
  } catch (cause) {
    signal?.throwIfAborted()
    const code = stop.signal.aborted ? 'timeout' : 'unreachable'
    const { code: why = code } = ((cause as Error).cause ?? {}) as { code?: string } // of Node, such as ECONNREFUSED
    return { status: 0, headers: new Headers(), text: '', error: new ReeveError(`no response from ${new URL(url).origin}: ${why}`, { status: 0, code, cause }) }
  } finally {
    end()
  }
}

/** Returns the error that a response is. */
export function failureOf(url: string, status: number, headers: Headers, text: string): ReeveError {
  const {
    msg = `${url.split('?')[0]} does not answer like Reeve (${status})`,
    errorCode: code = 'bad_response',
    errors = {},
    requestId = '',
  } = parse(text) ?? {}
  const header = headers.get('Retry-After') // seconds, or a date
  const seconds = Number(header) || (Date.parse(header ?? '') - Date.now()) / 1000
  return new ReeveError(msg, { status, code, errors, requestId, retryAfter: seconds > 0 ? seconds : undefined })
}

/** The envelope of Reeve's responses; responses of other programs have none of its members. */
export type Envelope = Partial<{
  success: boolean
  data: unknown
  msg: string
  errorCode: string
  errors: Record<string, string>
  requestId: string
}>

/** Returns the JSON value that a text is; undefined if it is something else. */
export function parse(text: string): Envelope | null | undefined {
  try {
    return JSON.parse(text)
  } catch {} // undefined
}

const last: Record<string, number> = {} // time of the last warning of a kind, milliseconds

/** Writes to the console, at most once in ten seconds for each kind: a program can get many requests while Reeve is unreachable. */
export function warn(kind: string, reason: string): void {
  if (Date.now() - (last[kind] ?? 0) < 10_000) return
  last[kind] = Date.now()
  console.warn(`Reeve: ${kind}: ${reason}`)
}
