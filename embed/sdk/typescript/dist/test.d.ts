import { Reeve } from './client.js';
import type { Realm } from './types.js';
/** Options of {@link start}. */
export interface TestServerOptions {
    /** Setup files, or directories with them. */
    setup?: readonly string[];
    /** Path of the program; the environment variable REEVE by default, or else `reeve` in PATH. */
    program?: string;
    /** Added to the environment, for secrets that setup files refer to. */
    env?: Record<string, string>;
}
/** A user of a test, who is signed in. */
export interface TestUser {
    id: number;
    username: string;
    password: string;
    /** Token of a session. */
    token: string;
}
/** A running server. */
export interface TestServer {
    url: string;
    /** A client that may do everything. */
    owner: Reeve;
    /** API keys of the setup files, by name. */
    keys: Record<string, string>;
    /** Secrets of their webhooks, by description. */
    webhooks: Record<string, string>;
    /** Creates a user of a realm with roles, and signs in as it. */
    user(realm: Realm, ...roles: string[]): Promise<TestUser>;
    /** Stops the server and removes its data. */
    stop(): Promise<void>;
}
/**
 * Starts a throw-away server of Reeve for tests, which takes less than 100 ms. It needs Node.js and the program `reeve`.
 *
 * ```js
 * const server = await start({ setup: ['shop.toml'] })
 * const ann = await server.user('admin', 'Support')
 * …
 * await server.stop()
 * ```
 *
 * It ends with this process, too. Rejects with an Error that has the program's output.
 */
export declare function start({ setup, program, env }?: TestServerOptions): Promise<TestServer>;
