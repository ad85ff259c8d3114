import type { Reeve } from './client.js';
import { type Decision, type Question, type Refusal } from './decide.js';
import type { Realm } from './types.js';
export { type Decision, type Question, type Refusal, refuse } from './decide.js';
export { warn } from './send.js';
/** The path of a program to which browsers return from the sign-in page. */
export declare const callbackPath = "/.reeve/callback";
/** The path of a program at which users of the backend sign out. */
export declare const signOutPath = "/.reeve/sign-out";
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
export declare function authorize(reeve: Reeve, realm: Realm, permissions: readonly string[]): (question: Question) => Promise<Decision>;
/** Reports whether a request is one for {@link finishSignIn}. */
export declare function isCallback({ origin }: Reeve, { method, path }: Question): boolean;
/** Answers a request for {@link callbackPath}: it finishes the sign-in of a browser. The client must have an `origin`. */
export declare function finishSignIn(reeve: Reeve, question: Question): Promise<Refusal>;
/** Reports whether a request is one for {@link showSignOut}. */
export declare function isSignOut({ origin }: Reeve, { method, path }: Question): boolean;
/**
 * Answers a request for {@link signOutPath}: GET with a page that has a button, and POST by ending the session of a user
 * of the backend. The client must have an `origin`.
 */
export declare function showSignOut(reeve: Reeve, question: Question): Promise<Refusal>;
