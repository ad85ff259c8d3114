import { type SignOutOptions } from './app.js';
import type { Reeve } from './client.js';
import { type WebhookHandler } from './receive.js';
import type { AppPermission, Caller, Permission } from './types.js';
export type { SignOutOptions } from './app.js';
export type { WebhookHandler } from './receive.js';
export type { Caller } from './types.js';
declare global {
    namespace Express {
        interface Request {
            /** Who has sent the request; set by `protect` and `protectApp` of `@reeve/client/express`. */
            caller?: Caller;
        }
    }
}
/** What the middlewares use of a request of Express, or of `node:http`. */
export interface NodeRequest extends AsyncIterable<Uint8Array> {
    method?: string | undefined;
    url?: string | undefined;
    originalUrl?: string;
    headers: Record<string, string | string[] | undefined>;
    body?: unknown;
    caller?: Caller;
}
/** What the middlewares use of a response of Express, or of `node:http`. */
export interface NodeResponse {
    statusCode: number;
    setHeader(name: string, value: string): unknown;
    appendHeader(name: string, value: string): unknown;
    end(text: string): unknown;
}
/** A middleware of Express. Without Express, call it with the request, the response, and a function to call next. */
export type Middleware = (request: NodeRequest, response: NodeResponse, next: (error?: unknown) => void) => void;
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
export declare function protect(reeve: Reeve, ...permissions: Permission[]): Middleware;
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
export declare function protectApp(reeve: Reeve, ...permissions: AppPermission[]): Middleware;
/**
 * Signs the browser of an app user out, and sends it to a path. Takes POST from pages of the program. Throws a
 * TypeError if the client has no `origin`, or `to` is not a path.
 *
 * ```js
 * app.post('/sign-out', signOut(reeve))
 * ```
 */
export declare function signOut(reeve: Reeve, options?: SignOutOptions): Middleware;
/**
 * Answers `/.reeve/callback` and `/.reeve/app`, where browsers return from the sign-in page and app users from the
 * hosted pages, and `/.reeve/sign-out`, where users of the backend sign out; passes other requests on.
 * Throws a TypeError if the client has no `origin`.
 *
 * ```js
 * app.use(callback(reeve))
 * ```
 */
export declare function callback(reeve: Reeve): Middleware;
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
export declare function webhook(secret: string | undefined, handler: WebhookHandler): Middleware;
