// Every answer of the interface has one envelope; this is where it is opened.

import type { Answer, Body, Method, Path } from './paths'
import { end, token } from './session'

// showType says how an answer wants to be shown, see the interface's conventions.
export const show = { success: 0, warning: 1, error: 2, notifySuccess: 3, notifyWarning: 4, notifyError: 5, silent: 99 } as const

type Envelope<T> = {
  data: T
  success: boolean
  msg: string
  showType: number
  errorCode?: string
  requestId?: string
  errors?: Record<string, string>
}

// Failure is an answer that was not a success, or none at all.
export class Failure extends Error {
  constructor(
    readonly status: number, // 0 when nothing came back
    readonly code: string,
    message: string,
    readonly showType: number,
    readonly errors: Record<string, string> = {},
    readonly requestId = '',
  ) {
    super(message)
  }
}

export type Query = Record<string, string | number | boolean | string[] | undefined | null>

type Options = {
  query?: Query
  body?: unknown
  form?: FormData
  signal?: AbortSignal
  quiet?: boolean // the caller shows failures itself
  range?: string // of the bytes that are wanted
}

// The rest of the console says here how failures are shown, and what is done when
// the password must be changed or the server does not answer; the sign-in page needs
// none of it.
export const hooks = {
  failed: (_: Failure): void => {},
  mustChange: (): void => {},
  // lost tells whether the server cannot be reached at all, and somebody says so.
  lost: (): Promise<boolean> => Promise.resolve(false),
}

export function address(path: string, query: Query = {}): string {
  const search = new URLSearchParams()
  for (const [name, value] of Object.entries(query)) {
    if (Array.isArray(value)) for (const v of value) search.append(name, v)
    else if (value !== undefined && value !== null && value !== '') search.set(name, String(value))
  }
  const text = search.toString()
  return text ? `${path}?${text}` : path
}

async function send(method: Method, path: Path, o: Options): Promise<Response> {
  const headers: Record<string, string> = {}
  if (token()) headers.Authorization = `Bearer ${token()}`
  if (o.body !== undefined) headers['Content-Type'] = 'application/json'
  if (o.range) headers.Range = o.range
  try {
    return await fetch(address(path, o.query), {
      method,
      headers,
      signal: o.signal,
      body: o.form ?? (o.body === undefined ? undefined : JSON.stringify(o.body)),
    })
  } catch (cause) {
    if (o.signal?.aborted) throw cause
    throw new Failure(0, navigator.onLine ? 'unreachable' : 'offline', '', show.error)
  }
}

// failureIn is what an answer's status and text tell of a failure.
export function failureIn(status: number, text: string): Failure {
  try {
    const e = JSON.parse(text) as Envelope<unknown>
    return new Failure(status, e.errorCode ?? 'internal', e.msg, e.showType, e.errors, e.requestId)
  } catch {
    return new Failure(status, 'unreachable', '', show.error)
  }
}

const failureOf = async (response: Response) => failureIn(response.status, await response.text().catch(() => ''))

// The failures behind which the server may be away as a whole.
const unanswered = new Set(['offline', 'unreachable', 'busy'])

// request asks the interface and returns the data of its answer; a Failure is shown
// unless the caller says that it does that itself, and thrown either way.
export async function request<T>(method: Method, path: Path, o: Options = {}): Promise<T> {
  try {
    const response = await send(method, path, o)
    if (!response.ok) throw await failureOf(response)
    return ((await response.json()) as Envelope<T>).data
  } catch (cause) {
    if (!(cause instanceof Failure)) throw cause
    if (cause.status === 401 && token()) {
      end(true)
    } else if (cause.code === 'password_change_required') {
      hooks.mustChange()
    } else if (unanswered.has(cause.code)) {
      // What was only asked for is asked again when the server is back.
      void hooks.lost().then((away) => {
        if (!o.quiet && !(away && method === 'GET')) hooks.failed(cause)
      })
    } else if (!o.quiet) {
      hooks.failed(cause)
    }
    throw cause
  }
}

// The paths are those of the OpenAPI document, which tells what they take and answer.
export const get = <P extends Path<'GET'>>(path: P, query?: Query, o: Options = {}) => request<Answer<'GET', P>>('GET', path, { ...o, query })
export const post = <P extends Path<'POST'>>(path: P, body?: Body<'POST', P>, o: Options = {}) => request<Answer<'POST', P>>('POST', path, { ...o, body })
export const put = <P extends Path<'PUT'>>(path: P, body?: Body<'PUT', P>, o: Options = {}) => request<Answer<'PUT', P>>('PUT', path, { ...o, body })
export const del = <P extends Path<'DELETE'>>(path: P, query?: Query, o: Options = {}) => request<Answer<'DELETE', P>>('DELETE', path, { ...o, query })

// open begins to read bytes that are too many to be held at once. The caller shows
// failures.
export async function open(path: Path<'GET'>, signal: AbortSignal): Promise<Response> {
  const response = await send('GET', path, { signal })
  if (!response.ok) throw await failureOf(response)
  return response
}

// download fetches bytes that need the token, which a link cannot carry.
export async function download(path: Path<'GET'>, query?: Query, o: Options = {}): Promise<{ blob: Blob; name: string }> {
  const response = await send('GET', path, { ...o, query })
  if (!response.ok) {
    const failure = await failureOf(response)
    if (!o.quiet) hooks.failed(failure)
    throw failure
  }
  const disposition = response.headers.get('Content-Disposition') ?? ''
  const exact = /filename\*=UTF-8''([^;]+)/.exec(disposition)?.[1]
  const plain = /filename="([^"]*)"/.exec(disposition)?.[1]
  return { blob: await response.blob(), name: exact ? decodeURIComponent(exact) : (plain ?? 'file') }
}

// save hands bytes to the browser's downloads.
export function save({ blob, name }: { blob: Blob; name: string }): void {
  const url = URL.createObjectURL(blob)
  const link = document.createElement('a')
  link.href = url
  link.download = name
  link.click()
  setTimeout(() => URL.revokeObjectURL(url), 60_000)
}
