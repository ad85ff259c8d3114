import type { Config as Values } from '../api.js';
import type { Reeve } from './client.js';
import type { Settings } from './types.js';
/** What to follow. */
export interface ConfigQuery {
    /** Keys of setting groups; absent for all that the key may read. */
    groups?: readonly string[];
    /** Codes of dictionaries; `['*']` for all that the key may read; absent for none. */
    dicts?: readonly string[];
}
/**
 * Settings and dictionaries that follow the server, see {@link Reeve.follow}. While the server cannot be
 * reached, the last values stay.
 */
export interface Config<S extends object = Settings> {
    /** Values by group and key: a number for a number, a boolean for a switch. */
    readonly settings: S;
    /** Enabled dictionaries with their enabled items, by code. */
    readonly dicts: Values['dicts'];
    /** Secrets that the key may not read, as `group.key`. */
    readonly withheld: string[];
    /** Calls a function after each change, and returns a function that ends this. What it throws goes to {@link onError}. */
    onChange(fn: () => unknown): () => void;
    /** Calls a function after each failed attempt to read, and returns a function that ends this. Without one, failures are written to the console. */
    onError(fn: (error: unknown) => unknown): () => void;
    /** Stops following. The last values stay. */
    close(): void;
}
/** Reads the first values and starts to follow; see {@link Reeve.follow}. */
export declare function follow<S extends object>(reeve: Reeve, { groups, dicts }: ConfigQuery): Promise<Config<S>>;
