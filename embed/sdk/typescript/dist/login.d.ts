import type { Reeve } from './client.js';
import type { Realm } from './types.js';
/** The client that a program signs in, such as a browser. Every step of a sign-in needs the same values. */
export interface SignInOptions {
    /** IP address, as the framework of the program reports it. */
    address?: string | undefined;
    /** User agent; the session is shown with its browser and system. */
    userAgent?: string | undefined;
    /** `device_token` from an earlier sign-in of the client, which failed attempts of others then do not lock out. */
    deviceToken?: string | undefined;
    /** Header `Accept-Language`, for the language of a mail and of errors. */
    language?: string | undefined;
}
/** A step of a sign-in: realm, path behind that of a sign-in, what is sent, and the client. */
export type Step = [realm: Realm, path: string, proof: Record<string, string>, client?: SignInOptions | undefined];
/** Carries out a step: with the key of a program if it has one and passes on an address, or else as the client itself would. */
export declare function login<T>(anonymous: Reeve, program: Reeve | undefined, ...[realm, path, proof, client]: Step): Promise<T>;
