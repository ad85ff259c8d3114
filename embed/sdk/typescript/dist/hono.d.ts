import { type SignOutOptions } from './app.js';
import type { Reeve } from './client.js';
import { type WebhookHandler } from './receive.js';
import type { AppPermission, Caller, Permission } from './types.js';
export type { SignOutOptions } from './app.js';
export type { WebhookHandler } from './receive.js';
export type { Caller } from './types.js';
/** Variables that `protect` and `protectApp` set: `new Hono<{ Variables: CallerVariables }>()`. */
export type CallerVariables = {
    caller: Caller;
};
/** What the middlewares use of a context of Hono. */
export interface HonoContext {
    req: {
        raw: Request;
        arrayBuffer(): Promise<ArrayBuffer>;
    };
    set: (name: never, value: never) => void;
}
/** A middleware of Hono. */
export type Middleware = (context: HonoContext, next: () => Promise<void>) => Promise<Response | undefined>;
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
export declare function protect(reeve: Reeve, ...permissions: Permission[]): Middleware;
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
export declare function protectApp(reeve: Reeve, ...permissions: AppPermission[]): Middleware;
/**
 * Signs the browser of an app user out, and sends it to a path. Takes POST from pages of the program. Throws a
 * TypeError if the client has no `origin`, or `to` is not a path.
 *
 * ```ts
 * app.post('/sign-out', signOut(reeve))
 * ```
 */
export declare function signOut(reeve: Reeve, options?: SignOutOptions): (context: HonoContext) => Promise<Response>;
/**
 * Answers `/.reeve/callback` and `/.reeve/app`, where browsers return from the sign-in page and app users from the
 * hosted pages, and `/.reeve/sign-out`, where users of the backend sign out; passes other requests on.
 * Throws a TypeError if the client has no `origin`.
 *
 * ```ts
 * app.use(callback(reeve))
 * ```
 */
export declare function callback(reeve: Reeve): Middleware;
/**
 * Receives messages of a webhook: it verifies them, calls the handler with the event and answers 204. The
 * answer is 401 if a message is not valid, and 413 above 1 MiB. If the handler fails, the error goes to
 * `app.onError`; Reeve sends the event again. Throws a WebhookError if the secret is not valid.
 *
 * ```ts
 * app.post('/hook', webhook(process.env.WEBHOOK_SECRET, async (event) => console.log(event.type, event.data)))
 * ```
 */
export declare function webhook(secret: string | undefined, handler: WebhookHandler): (context: HonoContext) => Promise<Response>;
