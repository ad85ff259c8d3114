import type { Reeve } from './client.js';
import type { Caller, Realm } from './types.js';
export { warn } from './send.js';
/** The path of a program to which browsers return from the sign-in page. */
export declare const callbackPath = "/.reeve/callback";
/** A request to the program. */
export interface Question {
    method: string;
    /** Path and query as the browser has sent them. */
    path: string;
    /** Returns the value of a header; undefined or null if it is absent. */
    header(name: string): string | null | undefined;
}
/** A response to send instead of that of the route. */
export interface Refusal {
    status: number;
    /** Names and values; `Set-Cookie` can be there several times. */
    headers: [name: string, value: string][];
    body: string;
}
/** The result of a decision. */
export type Decision = {
    caller: Caller;
    refusal?: undefined;
} | {
    caller?: undefined;
    refusal: Refusal;
};
/** Returns a response with JSON in the form of the other refusals: `{"error": "…"}`. */
export declare function refuse(status: number, error: string, ...headers: [string, string][]): Refusal;
/**
 * Returns a function that decides about requests. In the realm `admin` it lets users and API keys through that
 * have all permissions: those with `Authorization: Bearer`, and browsers that have signed in if the client has
 * an `origin`. In the realm `app` it lets app users with `Authorization: Bearer` through.
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
export declare function authorize(reeve: Reeve, realm: Realm, permissions: readonly string[]): (question: Question) => Promise<Decision>;
/** Reports whether a request is one for {@link finishSignIn}. */
export declare function isCallback({ origin }: Reeve, { method, path }: Question): boolean;
/** Answers a request for {@link callbackPath}: it finishes the sign-in of a browser. The client must have an `origin`. */
export declare function finishSignIn(reeve: Reeve, question: Question): Promise<Refusal>;
