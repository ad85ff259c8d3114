import { type Commit } from './send.js';
import type { WebhookData } from './webhook.js';
/** A change that {@link Reeve.events} has received. */
export interface StreamEvent {
    /** Position after which `after` continues. */
    id: string;
    /** Type, such as `user.updated`; `open` for the first one. */
    type: string;
    /** Time of the change, RFC 3339; empty for `open`. */
    timestamp: string;
    /** The change; of `open`, {@link StreamOpened}. */
    data: WebhookData;
}
/** Which of the wanted types of events can come. */
export interface StreamOpened {
    /** Types that can come. */
    types: string[];
    /** Those of them that come only for some records, such as those in the data scope. */
    limited: string[];
    /** Types that can't come; `permission` is what the key lacks, absent if none would do. */
    missing: {
        type: string;
        permission?: string;
        reason: string;
    }[];
    /** 1 if the data scope of the key is all. */
    all: 0 | 1;
}
/** Options of {@link Reeve.events}. */
export interface EventsOptions {
    /** Ends the events, without an error. */
    signal?: AbortSignal | undefined;
    /** Position to continue from, the ID of the last event that was processed; now if it is absent or empty. */
    after?: string | undefined;
}
/** Sends a request for a stream. */
type Connect = (path: string, headers: Record<string, string>, signal: AbortSignal) => Promise<Response>;
/** Follows events; see {@link Reeve.events}. */
export declare function follow(connect: Connect, timeout: number, types: readonly string[], { signal, after }: EventsOptions, commit: Commit): AsyncGenerator<StreamEvent, void, undefined>;
export {};
