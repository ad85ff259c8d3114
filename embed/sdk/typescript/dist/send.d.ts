/** A call that has failed. Its texts never contain the key or token. */
export declare class ReeveError extends Error {
    /** HTTP status; 0 if there was no response. */
    readonly status: number;
    /**
     * Stable code such as `stale` or `already_done`; `unreachable` or `timeout` without a response,
     * `bad_response` for a response that is not Reeve's.
     */
    readonly code: string;
    /** What is wrong with each field of the request, by name. */
    readonly errors: Record<string, string>;
    /** ID by which monitoring and the log of the server have the request; empty if there is none. */
    readonly requestId: string;
    /** Seconds after which to try again; undefined if the server has not said it. */
    readonly retryAfter: number | undefined;
    constructor(message: string, detail: Pick<ReeveError, 'status' | 'code'> & Partial<ReeveError>);
}
/** A request that can be sent several times. */
export interface Sending {
    method: string;
    url: string;
    headers: Record<string, string>;
    body: string | undefined;
    /** Cancels the request; {@link send} then rejects with its reason. */
    signal?: AbortSignal | undefined;
    /** Milliseconds for one attempt. */
    timeout: number;
    /** Maximum number of further attempts. */
    retries: number;
    /** Whether it does the same when it is carried out twice. */
    repeatable: boolean;
    fetch: typeof fetch;
    /** Position of the last write, which the request sends and a response replaces. */
    commit: Commit;
}
/** Position of the last write, such as `EPOCH-7`: any node of Reeve that gets it has that write. */
export type Commit = {
    at?: string;
};
/** A response with its whole body. */
export interface Received {
    /** HTTP status; 0 if there was no response. */
    status: number;
    headers: Headers;
    text: string;
    /** The failure; undefined for 2xx and 304. */
    error?: ReeveError | undefined;
}
/**
 * Sends a request, and repeats it after failures that may pass. Resolves with the last response, also if it
 * is an error; rejects only if the signal is aborted.
 */
export declare function send(r: Sending): Promise<Received>;
/** Waits for some milliseconds; rejects with the reason of the signal when that is aborted. */
export declare function pause(milliseconds: number, signal?: AbortSignal): Promise<void>;
export declare function note(commit: Commit, at: string | null | undefined): void;
/** Returns the error that a response is. */
export declare function failureOf(url: string, status: number, headers: Headers, text: string): ReeveError;
/** The envelope of Reeve's responses; responses of other programs have none of its members. */
export type Envelope = Partial<{
    success: boolean;
    data: unknown;
    msg: string;
    errorCode: string;
    errors: Record<string, string>;
    requestId: string;
}>;
/** Returns the JSON value that a text is; undefined if it is something else. */
export declare function parse(text: string): Envelope | null | undefined;
/** Writes to the console, at most once in ten seconds for each kind: a program can get many requests while Reeve is unreachable. */
export declare function warn(kind: string, reason: string): void;
