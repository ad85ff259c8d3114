// Every response of the API has the same envelope; it is opened here.

import { actingHeaders, stopActing } from './acting'
import { base } from './base'
import { begin } from './changes'
import type { Answer, Body, Method, Path } from './paths'
import { noticeDue, noticeShown, withNotice } from './saved-notice'
import type { Info } from './types'
import { lapse, mark, signedIn } from './session'

// showType says how to show a response; see the API conventions.
export const show = { success: 0, warning: 1, error: 2, notifySuccess: 3, notifyWarning: 4, notifyError: 5, silent: 99 } as const

type Envelope<T> = {
  data: T
  success: boolean
  msg: string
  showType: number
  errorCode?: string
  requestId?: string
  errors?: Record<string, string>
  details?: Record<string, Reason>
}

// Reason is a message as its code and parameters.
export type Reason = { code: string; params?: Record<string, unknown> }

// Failure is an error response, or no response at all.
export class Failure extends Error {
  constructor(
    readonly status: number, // 0 without a response
    readonly code: string,
    message: string,
    readonly showType: number,
    readonly errors: Record<string, string> = {},
    readonly requestId = '',
  ) {
    super(message)
  }
}

// unconfirmed reports whether a request failed because the user did not want to confirm who it
// is, which needs no message.
export const unconfirmed = (cause: unknown): boolean => cause instanceof Failure && cause.code === 'reauth_required'

export type Query = Record<string, string | number | boolean | string[] | undefined | null>

type Options = {
  query?: Query
  body?: unknown
  form?: FormData
  signal?: AbortSignal
  quiet?: boolean // the caller shows failures itself
  range?: string // byte range to request
  once?: string // repeating the request with the same key does not carry it out again
  entry?: (seq: number) => void // receives the number of the write's entry in the change log
}

// The rest of the console registers here how to show failures, and what to do when the
// password must be changed, the user has to confirm who it is or the server is
// unreachable; the sign-in page needs none of it.
export const hooks = {
  failed: (_: Failure): void => {},
  saved: (): void => {}, // a change is made, and nothing else on the screen says so
  mustChange: (): void => {},
  mustAddFactor: (): void => {},
  // confirm asks the user to confirm who it is, and reports whether it has.
  confirm: (): Promise<boolean> => Promise.resolve(false),
  // lost reports whether the server is unreachable and a message already says so.
  lost: (): Promise<boolean> => Promise.resolve(false),
  // sent is told of each request.
  sent: (_method: Method, _path: Path, _address: string, _body?: unknown): void => {},
  // fault returns the console's own text for a field fault, or the server's.
  fault: (text: string, _?: Reason): string => text,
}

// language is that of the page, in which the server is asked to answer.
export const language = (): string => document.documentElement.lang

export function address(path: string, query: Query = {}): string {
  const search = new URLSearchParams()
  for (const [name, value] of Object.entries(query)) {
    if (Array.isArray(value)) for (const v of value) search.append(name, v)
    else if (value !== undefined && value !== null && value !== '') search.set(name, String(value))
  }
  const text = search.toString()
  return text ? `${path}?${text}` : path
}

// commit is the position of the last change by others that this tab has heard of, where Reeve runs as several nodes.
// Requests name it, so that any node answers with the change. That of the own changes is in a cookie.
let commit = ''

export const heard = (position: string | undefined): void => {
  commit = position || commit
}

// reason is why the user makes a change, for the change log. The next change sends it.
let reason = ''

export const giveReason = (text: string): void => {
  reason = text.trim()
}

// reasonFor returns the reason to send, and forgets it once it is used.
function reasonFor(method: Method): string {
  if (method === 'GET') return ''
  const given = reason
  reason = ''
  return given
}

async function send(method: Method, path: Path, o: Options, why: string): Promise<Response> {
  const headers: Record<string, string> = { 'Accept-Language': language(), ...actingHeaders(path) }
  if (o.body !== undefined) headers['Content-Type'] = 'application/json'
  if (o.range) headers.Range = o.range
  if (commit) headers['Reeve-Commit'] = commit
  if (o.once) headers['Idempotency-Key'] = o.once
  if (why) headers['X-Reason'] = encodeURIComponent(why)
  const ended = method === 'GET' ? undefined : begin()
  let entry: string | null = null
  try {
    const response = await fetch(base + address(path, o.query), {
      method,
      headers,
      signal: o.signal,
      body: o.form ?? (o.body === undefined ? undefined : JSON.stringify(o.body)),
    })
    entry = response.headers.get('Reeve-Entry')
    return response
  } catch (cause) {
    if (o.signal?.aborted) throw cause
    throw new Failure(0, navigator.onLine ? 'unreachable' : 'offline', '', show.error)
  } finally {
    ended?.(entry)
  }
}

// failureIn returns the failure that a status and body describe. If the user does not act as another one any more, the page
// is left.
export function failureIn(status: number, text: string): Failure {
  try {
    const e = JSON.parse(text) as Envelope<unknown>
    const errors = e.errors && Object.fromEntries(Object.entries(e.errors).map(([name, text]) => [name, hooks.fault(text, e.details?.[name])]))
    const over = e.errorCode === 'acting_ended'
    if (over) stopActing(true)
    return new Failure(status, e.errorCode ?? 'internal', e.msg, over ? show.silent : e.showType, errors, e.requestId)
  } catch {
    return new Failure(status, 'unreachable', '', show.error)
  }
}

const failureOf = async (response: Response) => failureIn(response.status, await response.text().catch(() => ''))

let asking: Promise<boolean> | undefined
let confirmations = 0 // how often the user has confirmed who it is

// confirm asks the user to confirm who it is, once for all requests that wait for it.
function confirm(): Promise<boolean> {
  asking ??= hooks
    .confirm()
    .then((confirmed) => {
      if (confirmed) confirmations++
      return confirmed
    })
    .finally(() => {
      asking = undefined
    })
  return asking
}

// What users do to sign in and out, for which they need no session.
const signing = /^\/admin\/(login|logout|password)|^\/(api\/home|auth\/provider)$/

// attempt sends a request. If the session has ended and the user signs in again, it is sent once more.
async function attempt(method: Method, path: Path, o: Options, why: string): Promise<Response> {
  if (!signing.test(path)) await signedIn()
  const session = mark()
  const response = await send(method, path, o, why)
  if (response.status !== 401 || !session || path === '/admin/logout') return response
  const failure = await failureOf(response)
  if (!(await lapse(session, failure.code))) throw failure
  o.signal?.throwIfAborted()
  return send(method, path, o, why)
}

// whoAmI returns the user of the browser's session; undefined if there is none or the server does not answer.
export async function whoAmI(): Promise<Info['info'] | undefined> {
  const response = await send('GET', '/admin/info', {}, '').catch(() => undefined)
  return response?.ok ? ((await response.json()) as Envelope<Info>).data.info : undefined
}

// answer sends a request, and throws a Failure unless it succeeds. If the server requires that
// the user first confirms who it is, the user is asked, and the request is sent once more.
async function answer(method: Method, path: Path, o: Options): Promise<Response> {
  hooks.sent(method, path, address(path, o.query), o.form ?? o.body)
  const why = reasonFor(method)
  const before = confirmations
  const response = await attempt(method, path, o, why)
  if (response.ok) return response
  const failure = await failureOf(response)
  if (!unconfirmed(failure)) throw failure
  o.signal?.throwIfAborted()
  if (confirmations === before && !(await confirm())) throw failure
  const repeated = await send(method, path, o, why)
  if (!repeated.ok) throw await failureOf(repeated)
  return repeated
}

// Failures that may mean that the whole server is unreachable.
const unanswered = new Set(['offline', 'unreachable', 'busy'])

// isUnanswered reports whether it is unknown if the server has carried out a request.
export const isUnanswered = (cause: unknown): boolean => cause instanceof Failure && (cause.code === 'offline' || cause.code === 'unreachable')

// Signing in, acting as another user and confirming who one is save nothing.
const unsaid = /^\/admin\/(login|logout|reauth|act-as)|\/act-as$|^\/auth\//

// request calls the API and returns the data of the response. It always throws a Failure,
// and shows it unless the caller does.
export const request = <T>(method: Method, path: Path, o: Options = {}): Promise<T> => withNotice(hooks.saved, () => ask<T>(method, path, o))

async function ask<T>(method: Method, path: Path, o: Options): Promise<T> {
  const session = mark()
  try {
    const response = await answer(method, path, o)
    const seq = /-(\d+)$/.exec(response.headers.get('Reeve-Entry') ?? '')?.[1] // after the generation
    if (seq) o.entry?.(Number(seq))
    if (!unsaid.test(path) && (method === 'PUT' ? !o.query?.dry_run : seq)) noticeDue()
    return ((await response.json()) as Envelope<T>).data
  } catch (cause) {
    if (!(cause instanceof Failure)) throw cause
    if (method !== 'GET') noticeShown() // a failure is shown instead
    if (cause.status === 401 && session) {
      // the page is left
    } else if (cause.code === 'password_change_required') {
      hooks.mustChange()
    } else if (cause.code === 'factor_required') {
      hooks.mustAddFactor()
    } else if (unanswered.has(cause.code)) {
      // A read is repeated when the server is back.
      void hooks.lost().then((away) => {
        if (!o.quiet && !(away && method === 'GET')) hooks.failed(cause)
      })
    } else if (!o.quiet && !unconfirmed(cause)) {
      hooks.failed(cause)
    }
    throw cause
  }
}

// Paths are those of the OpenAPI document, which types their bodies and responses.
export const get = <P extends Path<'GET'>>(path: P, query?: Query, o: Options = {}) => request<Answer<'GET', P>>('GET', path, { ...o, query })
export const post = <P extends Path<'POST'>>(path: P, body?: Body<'POST', P>, o: Options = {}) => request<Answer<'POST', P>>('POST', path, { ...o, body })
export const put = <P extends Path<'PUT'>>(path: P, body?: Body<'PUT', P>, o: Options = {}) => request<Answer<'PUT', P>>('PUT', path, { ...o, body })
export const del = <P extends Path<'DELETE'>>(path: P, query?: Query, o: Options = {}) => request<Answer<'DELETE', P>>('DELETE', path, { ...o, query })

// confirmFirst asks the user to confirm who it is, if that would be required within a moment, and
// reports whether the user has: for what must not be interrupted later.
export async function confirmFirst(): Promise<boolean> {
  const { until } = await get('/admin/reauth')
  return Date.parse(until) > Date.now() + 30_000 || confirm()
}

// open starts to read a stream that is too large to hold in memory. The caller shows
// failures.
export const open = (path: Path<'GET'>, signal: AbortSignal): Promise<Response> => answer('GET', path, { signal })

// download fetches bytes instead of opening a link, so that a failure is shown on the page, and a
// confirmation asked for.
export async function download(path: Path<'GET'>, query?: Query, o: Options = {}): Promise<{ blob: Blob; name: string }> {
  const response = await answer('GET', path, { ...o, query }).catch((cause: unknown) => {
    if (cause instanceof Failure && !o.quiet && !unconfirmed(cause)) hooks.failed(cause)
    throw cause
  })
  const disposition = response.headers.get('Content-Disposition') ?? ''
  const exact = /filename\*=UTF-8''([^;]+)/.exec(disposition)?.[1]
  const plain = /filename="([^"]*)"/.exec(disposition)?.[1]
  return { blob: await response.blob(), name: exact ? decodeURIComponent(exact) : (plain ?? 'file') }
}

// save offers bytes as a browser download.
export function save({ blob, name }: { blob: Blob; name: string }): void {
  const url = URL.createObjectURL(blob)
  const link = document.createElement('a')
  link.href = url
  link.download = name
  link.click()
  setTimeout(() => URL.revokeObjectURL(url), 60_000)
}
