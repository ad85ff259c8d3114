import type { Reeve } from './client.js';
import { type Received } from './send.js';
import type { Caller, Realm } from './types.js';
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
/** Returns the response to a request without a valid token. */
export declare const unauthorized: () => Refusal;
/** Decides about a request with a token. */
export declare function byToken(reeve: Reeve, realm: Realm, permissions: readonly string[], token: string): Promise<Decision>;
/**
 * Reports whether a browser sends a request that can change something for a page of another origin. A WebSocket is
 * opened with GET, and can change something.
 */
export declare function isCrossOrigin({ method, header }: Question, origin: string): boolean;
/** Asks Reeve within the timeout of the client, over all attempts; undefined if it is over. */
export declare function ask(reeve: Reeve, method: string, path: string, options: object): Promise<Received | undefined>;
/**
 * Refuses a request that Reeve could not be asked about. Throws an error if the configuration is wrong. That one has no
 * status, which a framework would send to the client.
 */
export declare function failed(answer: Received | undefined): Refusal;
