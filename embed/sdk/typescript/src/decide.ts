import type { Check } from '../api.js'
import type { Reeve } from './client.js'
import { parse, type Received, warn } from './send.js'
import type { Caller, Realm } from './types.js'

// What decisions about requests of users and of app users have in common.

/** A request to the program. */
export interface Question {
  method: string
  /** Path and query as the browser has sent them. */
  path: string
  /** Returns the value of a header; undefined or null if it is absent. */
  header(name: string): string | null | undefined
}

/** A response to send instead of that of the route. */
export interface Refusal {
  status: number
  /** Names and values; `Set-Cookie` can be there several times. */
  headers: [name: string, value: string][]
  body: string
}

/** The result of a decision. */
export type Decision = { caller: Caller; refusal?: undefined } | { caller?: undefined; refusal: Refusal }

/** Returns a response with JSON in the form of the other refusals: `{"error": "…"}`. */
export function refuse(status: number, error: string, ...headers: [string, string][]): Refusal {
  return {
    status,
    headers: [['Content-Type', 'application/json'], ['Cache-Control', 'no-store'], ...headers],
    body: JSON.stringify({ error }),
  }
}

/** Returns the response to a request without a valid token. */
export const unauthorized = () => refuse(401, 'sign in first', ['WWW-Authenticate', 'Bearer'])

/** Decides about a request with a token. */
export async function byToken(reeve: Reeve, realm: Realm, permissions: readonly string[], token: string): Promise<Decision> {
  if (!token || token.length > 4000) return { refusal: unauthorized() } // a longer one is an error of the request
  const answer = await ask(reeve, 'POST', '/auth/check', { body: { token, permissions } })
  if (!answer || answer.error) return { refusal: failed(answer) }
  const check = parse(answer.text)?.data as Check | undefined
  if (!check?.allowed) return { refusal: failed(answer) }
  const { active, user, allowed, unknown = [], data_scope: scope } = check
  if (!active || user?.realm !== realm) return { refusal: unauthorized() }
  const missing = permissions.find((one) => allowed[one] !== true)
  if (missing) return { refusal: refuse(403, unknown.includes(missing) ? `there is no permission ${missing}` : `permission ${missing} is required`) }
  return { caller: { ...user, realm, scope } }
}

/**
 * Reports whether a browser sends a request that can change something for a page of another origin. A WebSocket is
 * opened with GET, and can change something.
 */
export function isCrossOrigin({ method, header }: Question, origin: string): boolean {
  if (/^(GET|HEAD|OPTIONS)$/.test(method) && !header('upgrade')) return false
  const site = header('sec-fetch-site')
  if (site) return site !== 'same-origin' && site !== 'none'
  return (header('origin') || origin) !== origin
}

/** Asks Reeve within the timeout of the client, over all attempts; undefined if it is over. */
export async function ask(reeve: Reeve, method: string, path: string, options: object): Promise<Received | undefined> {
  const signal = AbortSignal.timeout(reeve.timeout)
  try {
    return await reeve.exchange(method, path, { ...options, signal })
  } catch (error) {
    if (signal.aborted) return undefined
    throw error
  }
}

/**
 * Refuses a request that Reeve could not be asked about. Throws an error if the configuration is wrong. That one has no
 * status, which a framework would send to the client.
 */
export function failed(answer: Received | undefined): Refusal {
  if (!answer || answer.status === 0 || answer.status === 429 || answer.status >= 500) {
    warn('permissions cannot be checked', answer?.error?.message ?? 'no response in time')
    return refuse(503, "permissions can't be checked at the moment; try again", ['Retry-After', '5'])
  }
  const { error, status } = answer
  throw new Error(`Reeve refuses the key or the origin of this program: ${error?.message ?? 'unexpected response'} (${status})`, { cause: error })
}
