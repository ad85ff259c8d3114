import { checkSignOut, finishAppSignIn, isAppCallback, type SignOutOptions, signOutApp } from './app.js'
import type { Reeve } from './client.js'
import { authorize, finishSignIn, isCallback, isSignOut, type Question, type Refusal, showSignOut } from './gate.js'
import { readBody, receive, type WebhookHandler } from './receive.js'
import type { AppPermission, Caller, Permission } from './types.js'
import { secretBytes } from './webhook.js'

export type { SignOutOptions } from './app.js'
export type { WebhookHandler } from './receive.js'
export type { Caller } from './types.js'

declare global {
  namespace Express {
    interface Request {
      /** Who has sent the request; set by `protect` and `protectApp` of `@reeve/client/express`. */
      caller?: Caller
    }
  }
}

/** What the middlewares use of a request of Express, or of `node:http`. */
export interface NodeRequest extends AsyncIterable<Uint8Array> {
  method?: string | undefined
  url?: string | undefined
  originalUrl?: string
  headers: Record<string, string | string[] | undefined>
  body?: unknown
  caller?: Caller
}

/** What the middlewares use of a response of Express, or of `node:http`. */
export interface NodeResponse {
  statusCode: number
  setHeader(name: string, value: string): unknown
  appendHeader(name: string, value: string): unknown
  end(text: string): unknown
}

/** A middleware of Express. Without Express, call it with the request, the response, and a function to call next. */
export type Middleware = (request: NodeRequest, response: NodeResponse, next: (error?: unknown) => void) => void

/**
 * Lets users of the backend and API keys through that have all permissions, and puts them on `req.caller`.
 *
 * ```js
 * app.use(callback(reeve))
 * app.post('/orders/:id/refund', protect(reeve, 'shop.order.refund'), (req, res) => {
 *   res.json({ refunded_by: req.caller.username })
 * })
 * ```
 *
 * Requests have `Authorization: Bearer` with a token or key, or come from a browser that has signed in: this
 * requires the `origin` of the client, which must be among `forward_auth.origins` in the configuration of
 * Reeve, and {@link callback}. A browser that opens a page without having signed in is sent to the sign-in
 * page. Other responses are JSON, `{"error": "…"}`: 401, 403 without a permission, 503 while Reeve cannot
 * be reached. If the key of the client lacks `auth.check`, the error goes to the error handler.
 */
export function protect(reeve: Reeve, ...permissions: Permission[]): Middleware {
  return gate(authorize(reeve, 'admin', permissions))
}

/**
 * Lets app users through that have all permissions, and puts them on `req.caller`.
 *
 * ```js
 * app.use(callback(reeve))
 * app.get('/my/orders', protectApp(reeve), (req, res) => res.json(ordersOf(req.caller.id)))
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
 * ```js
 * app.post('/sign-out', signOut(reeve))
 * ```
 */
export function signOut(reeve: Reeve, options: SignOutOptions = {}): Middleware {
  checkSignOut(reeve, options)
  return handle(async (request, response) => send(response, await signOutApp(reeve, questionOf(request), options)))
}

function gate(decide: ReturnType<typeof authorize>): Middleware {
  return handle(async (request, response) => {
    const { caller, refusal } = await decide(questionOf(request))
    if (refusal) return send(response, refusal)
    request.caller = caller
    return true
  })
}

/**
 * Answers `/.reeve/callback` and `/.reeve/app`, where browsers return from the sign-in page and app users from the
 * hosted pages, and `/.reeve/sign-out`, where users of the backend sign out; passes other requests on.
 * Throws a TypeError if the client has no `origin`.
 *
 * ```js
 * app.use(callback(reeve))
 * ```
 */
export function callback(reeve: Reeve): Middleware {
  if (!reeve.origin) throw new TypeError('callback needs the option origin of the client')
  return handle(async (request, response) => {
    const question = questionOf(request)
    if (isAppCallback(reeve, question)) return send(response, await finishAppSignIn(reeve, question))
    if (isSignOut(reeve, question)) return send(response, await showSignOut(reeve, question))
    if (!isCallback(reeve, question)) return true
    return send(response, await finishSignIn(reeve, question))
  })
}

/**
 * Receives messages of a webhook: it verifies them, calls the handler with the event and answers 204. The
 * answer is 401 if a message is not valid, and 413 above 1 MiB. If the handler fails, the error goes to the
 * error handler; Reeve sends the event again. Register it before `express.json()`. Throws a WebhookError if
 * the secret is not valid.
 *
 * ```js
 * app.post('/hook', webhook(process.env.WEBHOOK_SECRET, async (event) => console.log(event.type, event.data)))
 * ```
 */
export function webhook(secret: string | undefined, handler: WebhookHandler): Middleware {
  secretBytes(secret)
  return handle(async (request, response) => {
    let body = request.body as string | Uint8Array | undefined
    if (body === undefined) body = await readBody(request)
    else if (typeof body !== 'string' && !(body instanceof Uint8Array)) throw new Error('the body was decoded before: register webhook() before express.json()')
    return send(response, await receive(secret, request.headers, body, handler))
  })
}

// handle makes a middleware of a function that reports whether the request goes on.
function handle(fn: (request: NodeRequest, response: NodeResponse) => Promise<boolean>): Middleware {
  return (request, response, next) => void fn(request, response).then((goesOn) => goesOn && next(), next)
}

function questionOf({ method = 'GET', originalUrl, url, headers }: NodeRequest): Question {
  return { method, path: originalUrl ?? url ?? '/', header: (name) => headers[name]?.toString() }
}

function send(response: NodeResponse, { status, headers, body }: Refusal): false {
  response.statusCode = status
  for (const [name, value] of headers) {
    // The program may have set cookies of its own.
    if (name === 'Set-Cookie') response.appendHeader(name, value)
    else response.setHeader(name, value)
  }
  response.end(body)
  return false
}
