import { checkSignOut, finishAppSignIn, isAppCallback, type SignOutOptions, signOutApp } from './app.js'
import type { Reeve } from './client.js'
import { authorize, finishSignIn, isCallback, isSignOut, type Question, type Refusal, showSignOut } from './gate.js'
import { readBody, receive, type WebhookHandler } from './receive.js'
import type { AppPermission, Caller, Permission } from './types.js'
import { secretBytes } from './webhook.js'

export type { SignOutOptions } from './app.js'
export type { WebhookHandler } from './receive.js'
export type { Caller } from './types.js'

/** Variables that `protect` and `protectApp` set: `new Hono<{ Variables: CallerVariables }>()`. */
export type CallerVariables = { caller: Caller }

/** What the middlewares use of a context of Hono. */
export interface HonoContext {
  req: { raw: Request; arrayBuffer(): Promise<ArrayBuffer> }
  set: (name: never, value: never) => void
}

/** A middleware of Hono. */
export type Middleware = (context: HonoContext, next: () => Promise<void>) => Promise<Response | undefined>

/**
 * Lets users of the backend and API keys through that have all permissions, and sets `caller`.
 *
 * ```ts
 * const app = new Hono<{ Variables: CallerVariables }>()
 * app.use(callback(reeve))
 * app.post('/orders/:id/refund', protect(reeve, 'shop.order.refund'), (c) => c.json({ refunded_by: c.get('caller').username }))
 * ```
 *
 * Requests have `Authorization: Bearer` with a token or key, or come from a browser that has signed in: this
 * requires the `origin` of the client, which must be among `forward_auth.origins` in the configuration of
 * Reeve, and {@link callback}. A browser that opens a page without having signed in is sent to the sign-in
 * page. Other responses are JSON, `{"error": "…"}`: 401, 403 without a permission, 503 while Reeve cannot
 * be reached. If the key of the client lacks `auth.check`, it throws, and the error goes to `app.onError`.
 */
export function protect(reeve: Reeve, ...permissions: Permission[]): Middleware {
  return gate(authorize(reeve, 'admin', permissions))
}

/**
 * Lets app users through that have all permissions, and sets `caller`.
 *
 * ```ts
 * app.use(callback(reeve))
 * app.get('/my/orders', protectApp(reeve), (c) => c.json(ordersOf(c.get('caller').id)))
 * ```
 *
 * Requests have `Authorization: Bearer` with their token, or come from a browser that has signed in on the hosted
 * pages: this requires the `origin` of the client, which must be in the setting `app.return_origins` of Reeve, and
 * {@link callback}. A browser that opens a page without having signed in is sent there. Requests with the cookie
 * that a page of another origin sends are refused, if they can change something.
 */
export function protectApp(reeve: Reeve, ...permissions: AppPermission[]): Middleware {
  return gate(authorize(reeve, 'app', permissions))
}

/**
 * Signs the browser of an app user out, and sends it to a path. Takes POST from pages of the program. Throws a
 * TypeError if the client has no `origin`, or `to` is not a path.
 *
 * ```ts
 * app.post('/sign-out', signOut(reeve))
 * ```
 */
export function signOut(reeve: Reeve, options: SignOutOptions = {}): (context: HonoContext) => Promise<Response> {
  checkSignOut(reeve, options)
  return async ({ req }) => responseOf(await signOutApp(reeve, questionOf(req.raw), options))
}

function gate(decide: ReturnType<typeof authorize>): Middleware {
  return async (context, next) => {
    const { caller, refusal } = await decide(questionOf(context.req.raw))
    if (refusal) return responseOf(refusal)
    context.set('caller' as never, caller as never)
    await next()
    return undefined
  }
}

/**
 * Answers `/.reeve/callback` and `/.reeve/app`, where browsers return from the sign-in page and app users from the
 * hosted pages, and `/.reeve/sign-out`, where users of the backend sign out; passes other requests on.
 * Throws a TypeError if the client has no `origin`.
 *
 * ```ts
 * app.use(callback(reeve))
 * ```
 */
export function callback(reeve: Reeve): Middleware {
  if (!reeve.origin) throw new TypeError('callback needs the option origin of the client')
  return async (context, next) => {
    const question = questionOf(context.req.raw)
    if (isAppCallback(reeve, question)) return responseOf(await finishAppSignIn(reeve, question))
    if (isSignOut(reeve, question)) return responseOf(await showSignOut(reeve, question))
    if (isCallback(reeve, question)) return responseOf(await finishSignIn(reeve, question))
    await next()
    return undefined
  }
}

/**
 * Receives messages of a webhook: it verifies them, calls the handler with the event and answers 204. The
 * answer is 401 if a message is not valid, and 413 above 1 MiB. If the handler fails, the error goes to
 * `app.onError`; Reeve sends the event again. Throws a WebhookError if the secret is not valid.
 *
 * ```ts
 * app.post('/hook', webhook(process.env.WEBHOOK_SECRET, async (event) => console.log(event.type, event.data)))
 * ```
 */
export function webhook(secret: string | undefined, handler: WebhookHandler): (context: HonoContext) => Promise<Response> {
  secretBytes(secret)
  return async ({ req }) => {
    const { raw } = req
    // Hono keeps a body that was read before.
    const body = raw.bodyUsed ? new Uint8Array(await req.arrayBuffer()) : raw.body ? await readBody(raw.body) : ''
    return responseOf(await receive(secret, raw.headers, body, handler))
  }
}

function questionOf({ method, url, headers }: Request): Question {
  const { pathname, search } = new URL(url)
  return { method, path: pathname + search, header: (name) => headers.get(name) }
}

function responseOf({ status, headers, body }: Refusal): Response {
  return new Response(body || null, { status, headers })
}
