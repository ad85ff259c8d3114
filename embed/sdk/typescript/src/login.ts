import type { Reeve } from './client.js'
import { parse, ReeveError, warn } from './send.js'
import type { Realm } from './types.js'

/** The client that a program signs in, such as a browser. Every step of a sign-in needs the same values. */
export interface SignInOptions {
  /** IP address, as the framework of the program reports it. */
  address?: string | undefined
  /** User agent; the session is shown with its browser and system. */
  userAgent?: string | undefined
  /** `device_token` from an earlier sign-in of the client, which failed attempts of others then do not lock out. */
  deviceToken?: string | undefined
  /** Header `Accept-Language`, for the language of a mail and of errors. */
  language?: string | undefined
}

/** A step of a sign-in: realm, path behind that of a sign-in, what is sent, and the client. */
export type Step = [realm: Realm, path: string, proof: Record<string, string>, client?: SignInOptions | undefined]

/** Carries out a step: with the key of a program if it has one and passes on an address, or else as the client itself would. */
export async function login<T>(anonymous: Reeve, program: Reeve | undefined, ...[realm, path, proof, client = {}]: Step): Promise<T> {
  const { address, userAgent, deviceToken, language } = client
  const body = { ...proof, device_token: deviceToken }
  const headers: Record<string, string> = language ? { 'Accept-Language': language } : {}
  if (realm === 'app' && address && program) {
    const { error, text } = await program.exchange('POST', `/auth/login${path}`, { body: { ...body, address, user_agent: userAgent }, headers })
    if (!error) return parse(text)?.data as T
    // The key lacks the permission, or the server is older than 0.16.
    if (error.code !== 'denied' && error.code !== 'not_found') throw error
    const why = error.code === 'denied' ? 'the key lacks the permission auth.login' : 'the server is older than 0.16'
    warn('signIn', `${why}, so the address of the client counts only if this program is in server.trusted_proxies`)
  }
  if (address) headers['X-Forwarded-For'] = address
  if (userAgent) headers['User-Agent'] = userAgent
  const own = `/${realm === 'app' ? 'api' : 'admin'}/login${path}`
  const { error, text } = await anonymous.exchange('POST', own, { body, headers })
  if (error?.code === 'not_found') throw new ReeveError(`the server is too old: it has no ${own}`, error)
  if (error) throw error
  return parse(text)?.data as T
}
