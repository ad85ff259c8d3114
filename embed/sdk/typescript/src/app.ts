import type { Login } from '../api.js'
import type { Reeve } from './client.js'
import { ask, byToken, type Decision, failed, isCrossOrigin, type Question, type Refusal, refuse, unauthorized } from './decide.js'
import { parse, warn } from './send.js'

// App users sign in on the hosted pages of Reeve, and come back with a code, which the program exchanges for the
// token of a session. The browser keeps the token in a cookie of the program's host. Until then, a signed cookie has
// what the code is bound to: a state, by which the program recognizes the browser, and the verifier of RFC 7636.

/** The path of a program to which the browsers of app users return from the hosted pages. */
export const appCallbackPath = '/.reeve/app'

/** Options of {@link signOutApp}. */
export interface SignOutOptions {
  /** Path of the program to open afterwards; `/` by default. */
  to?: string
  /** Whether to lead the browser to Reeve's page that signs out there, too; otherwise the next sign-in needs no password. */
  everywhere?: boolean
}

const tokenCookie = 'reeve-app'
const beginCookie = 'reeve-app-begin-' // and the beginning of the state: each tab has its own
const beginLife = 3600 // seconds
const maxBegun = 4 // cookies of sign-ins that have begun in a browser
const maxToken = 4000

// A sign-in that has begun in a browser: state, verifier, path to open afterwards, expiry in seconds since 1970.
type Begun = { s: string; v: string; p: string; e: number }

const local = /^\/(?![/\\])[!-[\]-~]*$/ // a path of the program, which leads a browser nowhere else

/** Reports whether a request is one for {@link finishAppSignIn}. */
export function isAppCallback({ origin }: Reeve, { method, path }: Question): boolean {
  return origin !== undefined && method === 'GET' && path.split('?')[0] === appCallbackPath
}

/** Decides about a request without the header Authorization: the browser of an app user has a cookie, or is sent to sign in. */
export async function byAppCookie(reeve: Reeve, origin: string, permissions: readonly string[], question: Question): Promise<Decision> {
  const token = cookiesOf(question)[cookieName(origin, tokenCookie)]
  if (token !== undefined && isCrossOrigin(question, origin)) {
    return { refusal: refuse(403, 'requests of other origins must have the header Authorization') }
  }
  const decision = token === undefined ? { refusal: unauthorized() } : await byToken(reeve, 'app', permissions, token)
  if (decision.refusal?.status === 401 && navigates(question)) return { refusal: await begin(reeve, origin, question) }
  return decision
}

// navigates reports whether a browser opens a page: requests of scripts can accept HTML, too. Older browsers, and those
// over plain HTTP, do not say how they have made a request.
function navigates({ method, header }: Question): boolean {
  if (method !== 'GET' || !header('accept')?.includes('text/html') || header('x-requested-with')) return false
  const dest = header('sec-fetch-dest')
  return dest ? dest === 'document' : /^(navigate)?$/.test(header('sec-fetch-mode') ?? '')
}

async function begin(reeve: Reeve, origin: string, question: Question): Promise<Refusal> {
  const path = local.test(question.path) && question.path.length <= 1500 ? question.path : '/'
  const one: Begun = { s: randomText(16), v: randomText(32), p: path, e: Math.floor(Date.now() / 1000) + beginLife }
  const cookies: string[] = []
  const names = Object.keys(cookiesOf(question)).filter((name) => name.startsWith(cookieName(origin, beginCookie)))
  if (names.length >= maxBegun) cookies.push(...names.map((name) => cookie(origin, name, '', 0)))
  cookies.push(cookie(origin, nameOf(origin, one.s), await seal(reeve, one), beginLife))
  const challenge = base64url(new Uint8Array(await crypto.subtle.digest('SHA-256', new TextEncoder().encode(one.v))))
  const query = { to: origin + appCallbackPath, state: one.s, code_challenge: challenge, code_challenge_method: 'S256' }
  return redirect(`${reeve.publicUrl}/app/sign-in?${new URLSearchParams(query)}`, cookies)
}

/** Answers a request for {@link appCallbackPath}: it finishes the sign-in of an app user. The client must have an `origin`. */
export async function finishAppSignIn(reeve: Reeve, question: Question): Promise<Refusal> {
  const { origin = '' } = reeve
  const query = new URLSearchParams(question.path.split('?')[1])
  const code = query.get('code')
  const one = await begun(reeve, origin, question, query.get('state') ?? '')
  if (!one || !code) return unfinished(question, '/')
  const drop = cookie(origin, nameOf(origin, one.s), '', 0)
  const body = { code_token: code, code_verifier: one.v, to: origin + appCallbackPath, state: one.s }
  const answer = await ask(reeve.as(''), 'POST', '/api/login/code', { body })
  if (answer?.error?.code === 'return_code' || answer?.status === 422) return unfinished(question, one.p, drop)
  const session = parse(answer?.text ?? '')?.data as Login | undefined
  if (!answer || answer.error || !session?.token) return failed(answer)
  await endFormer(reeve, origin, question)
  const life = Math.floor((Date.parse(session.expires_at) - Date.now()) / 1000)
  return redirect(one.p, [drop, cookie(origin, cookieName(origin, tokenCookie), session.token, life)])
}

/**
 * Answers a request to sign out: it ends the session of the browser, deletes its cookie and sends the browser on.
 * Throws a TypeError if the client has no `origin`, or `to` is not a path.
 */
export async function signOutApp(reeve: Reeve, question: Question, options: SignOutOptions = {}): Promise<Refusal> {
  const { origin, to, everywhere } = checkSignOut(reeve, options)
  if (question.method !== 'POST') return refuse(405, 'method not allowed', ['Allow', 'POST'])
  if (isCrossOrigin(question, origin)) return refuse(403, "requests of other origins can't sign out")
  await endFormer(reeve, origin, question)
  const page = `${reeve.publicUrl}/app/sign-out?${new URLSearchParams({ to: origin + to })}`
  return redirect(everywhere ? page : to, [cookie(origin, cookieName(origin, tokenCookie), '', 0)])
}

/** Returns the options of a sign-out with their defaults; throws a TypeError if they are not valid. */
export function checkSignOut({ origin }: Reeve, { to = '/', everywhere = false }: SignOutOptions) {
  if (!origin || !local.test(to)) throw new TypeError('signing out needs the option origin of the client, and a path')
  return { origin, to, everywhere }
}

// endFormer ends the session in the cookie of a request, which is about to be replaced or deleted.
async function endFormer(reeve: Reeve, origin: string, question: Question): Promise<void> {
  const token = cookiesOf(question)[cookieName(origin, tokenCookie)]
  if (!token || token.length > maxToken) return
  try {
    await reeve.as(token).signOut('app')
  } catch (error) {
    warn('a session could not be ended; it ends when it expires', (error as Error).message)
  }
}

function redirect(to: string, cookies: string[]): Refusal {
  const headers: Refusal['headers'] = [
    ['Location', to],
    ['Cache-Control', 'no-store'],
    ['Referrer-Policy', 'no-referrer'],
  ]
  for (const one of cookies) headers.push(['Set-Cookie', one])
  return { status: 303, headers, body: '' }
}

// unfinished tells a person that the sign-in has to begin again.
function unfinished({ header }: Question, path: string, ...cookies: string[]): Refusal {
  const chinese = /^zh/i.test(header('accept-language') ?? '')
  const [language, text, link] = chinese
    ? ['zh-CN', '此次登录已过期或已完成。', '继续']
    : ['en', 'This sign-in has expired, or was completed already.', 'Continue']
  const href = path.replace(/[&"<>']/g, (c) => `&#${c.charCodeAt(0)};`)
  return {
    status: 403,
    headers: [
      ['Content-Type', 'text/html; charset=utf-8'],
      ['Content-Security-Policy', "default-src 'none'; frame-ancestors 'none'"],
      ['Cache-Control', 'no-store'],
      ['Referrer-Policy', 'no-referrer'],
      ...cookies.map((one): [string, string] => ['Set-Cookie', one]),
    ],
    body: `<!doctype html><html lang="${language}"><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>${text}</title><p>${text}</p><p><a href="${href}">${link}</a></p></html>`,
  }
}

// cookieName returns the name of a cookie of the program. Browsers accept the prefix only from the host itself, over
// HTTPS. The port is in the name, since browsers share cookies between the ports of a host.
function cookieName(origin: string, name: string): string {
  const { protocol, port } = new URL(origin)
  return `${protocol === 'https:' ? '__Host-' : ''}${port ? `p${port}-` : ''}${name}`
}

const nameOf = (origin: string, state: string) => cookieName(origin, beginCookie + state.slice(0, 8))

function cookie(origin: string, name: string, value: string, seconds: number): string {
  return `${name}=${value}; Path=/; Max-Age=${seconds}; HttpOnly; SameSite=Lax${origin.startsWith('https:') ? '; Secure' : ''}`
}

function cookiesOf({ header }: Question): Record<string, string> {
  const pairs = (header('cookie') ?? '').split(/;\s*/).map((pair) => pair.split(/=(.*)/s))
  return Object.fromEntries(pairs.map(([name, value = '']) => [name, value]))
}

const base64url = (bytes: Uint8Array) => btoa(String.fromCharCode(...bytes)).replace(/[+/=]/g, (c) => ({ '+': '-', '/': '_' })[c] ?? '')

const fromBase64url = (text: string) => Uint8Array.from(atob(text.replace(/[-_]/g, (c) => (c === '-' ? '+' : '/'))), (c) => c.charCodeAt(0))

const randomText = (bytes: number) => base64url(crypto.getRandomValues(new Uint8Array(bytes)))

// keyOf returns the key with which cookies are signed: one for all processes with the same key of Reeve.
async function keyOf(reeve: Reeve): Promise<CryptoKey> {
  const secret = await reeve.secret('app sign-in')
  return crypto.subtle.importKey('raw', secret, { name: 'HMAC', hash: 'SHA-256' }, false, ['sign', 'verify'])
}

async function seal(reeve: Reeve, one: Begun): Promise<string> {
  const text = new TextEncoder().encode(JSON.stringify(one))
  return `${base64url(text)}.${base64url(new Uint8Array(await crypto.subtle.sign('HMAC', await keyOf(reeve), text)))}`
}

// begun returns the sign-in with a state that was begun in the browser; undefined for none.
async function begun(reeve: Reeve, origin: string, question: Question, state: string): Promise<Begun | undefined> {
  const [value = '', signature = ''] = (cookiesOf(question)[nameOf(origin, state)] ?? '').split('.')
  try {
    const text = fromBase64url(value)
    if (!(await crypto.subtle.verify('HMAC', await keyOf(reeve), fromBase64url(signature), text))) return undefined
    const one = JSON.parse(new TextDecoder().decode(text)) as Begun
    return one.s === state && Date.now() / 1000 < one.e && local.test(one.p) ? one : undefined
  } catch {
    return undefined // not base64url
  }
}
