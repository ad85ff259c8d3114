import type { Reeve } from './client.js';
/** The user and the circumstances that a flag is evaluated for. */
export interface FlagContext {
    /** The user or thing, such as `user:7`, by which percentages are drawn. */
    targetingKey?: string;
    /** What rules can name. */
    [attribute: string]: unknown;
}
/** The result of a flag. */
export interface FlagDetails<T> {
    value: T;
    /** Name of the variant; absent for the value that the caller has given. */
    variant?: string;
    /**
     * `STATIC`, `TARGETING_MATCH`, `SPLIT`, `DEFAULT` or `DISABLED` as Reeve has said it, `STALE` for the last known value,
     * and `ERROR` for the value that the caller has given.
     */
    reason: string;
    /**
     * Why there is no current value: `FLAG_NOT_FOUND` for a flag that does not exist or that the key may not read,
     * `TARGETING_KEY_MISSING`, `INVALID_CONTEXT`, `PARSE_ERROR`, `TYPE_MISMATCH`, or `GENERAL` if Reeve cannot be reached
     * or refuses the key. Absent for a current value.
     */
    errorCode?: string;
    /** Description of the code, in English. */
    errorMessage?: string;
    /** Why rules about users could not match; absent if they could. */
    warning?: string;
}
/** Reads flags and keeps them; all clients made of one another have the same. */
export declare class FlagReader {
    #private;
    constructor(age?: number);
    /** See {@link Reeve.flagDetails}. */
    details<T>(reeve: Reeve, credential: string, key: string, context: FlagContext, otherwise: T): Promise<FlagDetails<T>>;
}
