import { byAppCookie, finishAppSignIn, isAppCallback } from './app.js'
import type { Reeve } from './client.js'
import { ask, byToken, type Decision, failed, isCrossOrigin, type Question, type Refusal, refuse, unauthorized } from './decide.js'
import type { Received } from './send.js'
import type { Caller, Realm } from './types.js'

export { type Decision, type Question, type Refusal, refuse } from './decide.js'
export { warn } from './send.js'

// What the middlewares for Express and Hono have in common. For another framework, build a Question from its
// request, and send a Refusal as its response.

/** The path of a program to which browsers return from the sign-in page. */
export const callbackPath = '/.reeve/callback'

/** The path of a program at which users of the backend sign out. */
export const signOutPath = '/.reeve/sign-out'

// Reeve's rule for keys of permissions.
const permissionForm = /^(?=.{1,100}$)[a-z][a-z0-9_-]*(\.[a-z][a-z0-9_-]*){0,4}$/

/**
 * Returns a function that decides about requests. In the realm `admin` it lets users and API keys through that
 * have all permissions: those with `Authorization: Bearer`, and browsers that have signed in if the client has
 * an `origin`. In the realm `app` it does the same for app users, who sign in on the hosted pages.
 *
 * ```js
 * const decide = authorize(reeve, 'admin', ['shop.order.query'])
 * const { caller, refusal } = await decide({ method: 'GET', path: '/orders?page=2', header: (name) => request.headers.get(name) })
 * ```
 *
 * While Reeve cannot be reached, it refuses with 503. It rejects if the program or Reeve is not configured for
 * it, for example if the key of the client lacks `auth.check`. Throws a TypeError if a text is not the
 * key of a permission: 1 to 5 segments such as `orders` or `shop.order.refund`.
 */
export function authorize(reeve: Reeve, realm: Realm, permissions: readonly string[]): (question: Question) => Promise<Decision> {
  for (const one of permissions) if (typeof one !== 'string' || !permissionForm.test(one)) throw new TypeError(`not the key of a permission: ${one}`)
  return async (question) => {
    // A middleware for all routes is in front of callback.
    if (realm === 'admin' && isCallback(reeve, question)) return { refusal: await finishSignIn(reeve, question) }
    if (realm === 'admin' && isSignOut(reeve, question)) return { refusal: await showSignOut(reeve, question) }
    if (realm === 'app' && isAppCallback(reeve, question)) return { refusal: await finishAppSignIn(reeve, question) }
    const [, bearer] = /^Bearer\b\s*(.*)$/i.exec(question.header('authorization') ?? '') ?? []
    if (bearer !== undefined) return byToken(reeve, realm, permissions, bearer.trim())
    if (!reeve.origin) return { refusal: unauthorized() }
    return (realm === 'app' ? byAppCookie : byCookie)(reeve, reeve.origin, permissions, question)
  }
}

async function byCookie(reeve: Reeve, origin: string, permissions: readonly string[], question: Question): Promise<Decision> {
  if (isCrossOrigin(question, origin)) return { refusal: refuse(403, 'requests of other origins must have the header Authorization') }
  const need = permissions.length ? `?need=${permissions.map(encodeURIComponent).join()}` : ''
  const answer = await forward(reeve, origin, `/auth/verify${need}`, question)
  switch (answer?.status) {
    case 204:
      return { caller: callerIn(answer.headers) }
    case 302:
      return { refusal: passOn(answer) }
    case 401:
      return { refusal: unauthorized() }
  }
  if (answer?.status === 403 && isPage(answer)) return { refusal: passOn(answer) }
  const { code = 'bad_response', message = '' } = answer?.error ?? {} // a proxy may refuse, too
  if (answer?.status === 403 && code !== 'unknown_origin' && code !== 'bad_response') return { refusal: refuse(403, message) }
  return { refusal: failed(answer) }
}

/** Reports whether a request is one for {@link finishSignIn}. */
export function isCallback({ origin }: Reeve, { method, path }: Question): boolean {
  return origin !== undefined && method === 'GET' && path.split('?')[0] === callbackPath
}

/** Answers a request for {@link callbackPath}: it finishes the sign-in of a browser. The client must have an `origin`. */
export async function finishSignIn(reeve: Reeve, question: Question): Promise<Refusal> {
  const answer = await forward(reeve, reeve.origin ?? '', question.path, question)
  return answer?.status && answer.status < 500 ? passOn(answer) : failed(answer)
}

/** Reports whether a request is one for {@link showSignOut}. */
export function isSignOut({ origin }: Reeve, { method, path }: Question): boolean {
  return origin !== undefined && /^(GET|POST)$/.test(method) && path.split('?')[0] === signOutPath
}

/**
 * Answers a request for {@link signOutPath}: GET with a page that has a button, and POST by ending the session of a user
 * of the backend. The client must have an `origin`.
 */
export async function showSignOut(reeve: Reeve, question: Question): Promise<Refusal> {
  const { origin = '' } = reeve
  if (isCrossOrigin(question, origin)) return refuse(403, "requests of other origins can't sign out")
  const answer = await forward(reeve, origin, signOutPath, question, question.method)
  return answer?.status && answer.status < 500 ? passOn(answer) : failed(answer)
}

// forward asks Reeve about a request, of which it passes on the URL and Reeve's own cookies.
function forward(reeve: Reeve, origin: string, path: string, { method, path: uri, header }: Question, as = 'GET'): Promise<Received | undefined> {
  const { protocol, host } = new URL(origin)
  const own = (header('cookie') ?? '').split(/;\s*/).filter((cookie) => /^(__Host-)?reeve-(forward|state)/.test(cookie))
  const headers: Record<string, string> = {
    'X-Forwarded-Proto': protocol.slice(0, -1),
    'X-Forwarded-Host': host,
    'X-Forwarded-Uri': uri,
    'X-Forwarded-Method': method,
    Accept: header('accept') ?? '*/*',
  }
  // With these Reeve knows that a script asks, which gets 401 instead of a redirect, and in which language people read.
  for (const name of ['Accept-Language', 'Sec-Fetch-Dest', 'X-Requested-With']) {
    const value = header(name.toLowerCase())
    if (value) headers[name] = value
  }
  if (own.length) headers.Cookie = own.join('; ')
  return ask(reeve.as(''), as, path, { headers })
}

// isPage reports whether Reeve itself answers with a page for people, not a proxy in front of it.
const isPage = ({ headers }: Received) => /^text\/html\b/.test(headers.get('content-type') ?? '') && headers.has('x-request-id')

function passOn({ status, headers, text }: Received): Refusal {
  const passed: Refusal['headers'] = [['Cache-Control', 'no-store']]
  for (const name of ['Location', 'Content-Type', 'Content-Security-Policy', 'Refresh']) {
    const value = headers.get(name)
    if (value) passed.push([name, value])
  }
  for (const cookie of headers.getSetCookie()) passed.push(['Set-Cookie', cookie])
  return { status, headers: passed, body: text }
}

// callerIn returns the user whom the headers of a response of /auth/verify describe.
function callerIn(headers: Headers): Caller {
  const text = (name: string) => decodeURIComponent(headers.get(name) ?? '')
  const id = Number(headers.get('X-Reeve-User'))
  const username = text('Remote-User')
  const scope = headers.get('X-Reeve-Scope') ?? ''
  const all = scope === 'all'
  const depts = all ? '' : /;depts=([\d,]*)$/.exec(scope)?.[1]
  if (!(id > 0) || !username || depts === undefined) {
    throw new Error('the headers of /auth/verify have another form than expected; is the URL of Reeve right?')
  }
  return {
    id,
    username,
    realm: 'admin',
    name: text('Remote-Name'),
    email: text('Remote-Email'),
    groups: (headers.get('Remote-Groups') ?? '').split(',').filter(Boolean).map(decodeURIComponent),
    scope: { all, user_id: id, dept_ids: depts.split(',').filter(Boolean).map(Number) },
  }
}
