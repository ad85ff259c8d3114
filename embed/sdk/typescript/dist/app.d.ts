import type { Reeve } from './client.js';
import { type Decision, type Question, type Refusal } from './decide.js';
/** The path of a program to which the browsers of app users return from the hosted pages. */
export declare const appCallbackPath = "/.reeve/app";
/** Options of {@link signOutApp}. */
export interface SignOutOptions {
    /** Path of the program to open afterwards; `/` by default. */
    to?: string;
    /** Whether to lead the browser to Reeve's page that signs out there, too; otherwise the next sign-in needs no password. */
    everywhere?: boolean;
}
/** Reports whether a request is one for {@link finishAppSignIn}. */
export declare function isAppCallback({ origin }: Reeve, { method, path }: Question): boolean;
/** Decides about a request without the header Authorization: the browser of an app user has a cookie, or is sent to sign in. */
export declare function byAppCookie(reeve: Reeve, origin: string, permissions: readonly string[], question: Question): Promise<Decision>;
/** Answers a request for {@link appCallbackPath}: it finishes the sign-in of an app user. The client must have an `origin`. */
export declare function finishAppSignIn(reeve: Reeve, question: Question): Promise<Refusal>;
/**
 * Answers a request to sign out: it ends the session of the browser, deletes its cookie and sends the browser on.
 * Throws a TypeError if the client has no `origin`, or `to` is not a path.
 */
export declare function signOutApp(reeve: Reeve, question: Question, options?: SignOutOptions): Promise<Refusal>;
/** Returns the options of a sign-out with their defaults; throws a TypeError if they are not valid. */
export declare function checkSignOut({ origin }: Reeve, { to, everywhere }: SignOutOptions): {
    origin: string;
    to: string;
    everywhere: boolean;
};
