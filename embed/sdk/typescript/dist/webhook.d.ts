/** A change that Reeve has sent to a webhook. */
export interface WebhookEvent {
    /** ID of the message, the same in every attempt and replay: keep those that you have processed, and do nothing twice. */
    id: string;
    /** Type, such as `user.updated`. */
    type: string;
    /** Time of the change, RFC 3339. */
    timestamp: string;
    /** The change, as event streams send it. */
    data: WebhookData;
}
/** What was changed. Some types have other members. */
export interface WebhookData {
    /** Number of the entry of the change log. */
    seq: number;
    /** Kind and ID of the record. */
    collection: string;
    record: number;
    /** Name of the record. */
    name: string;
    /** `create`, `update` or `delete`. */
    operation: string;
    /** Changed fields with their old and new values, as far as the owner of the webhook may read them. */
    fields: {
        name: string;
        old?: unknown;
        new?: unknown;
    }[];
    [member: string]: any;
}
/** A message that does not come from Reeve, or a secret that is not valid. */
export declare class WebhookError extends Error {
    name: string;
}
/** Headers of a request: those of `fetch`, or an object with names in lower case as in Node. */
export type WebhookHeaders = Headers | Readonly<Record<string, string | string[] | undefined>>;
/**
 * Verifies a message of a webhook by the rules of Standard Webhooks, and returns its event. The body must be
 * as it was received, not decoded and encoded again.
 *
 * ```js
 * const event = await verifyWebhook(process.env.WEBHOOK_SECRET, request.headers, await request.text())
 * ```
 *
 * Rejects with a {@link WebhookError} if a header is missing, no signature is valid, or the message is more
 * than five minutes old or ahead.
 */
export declare function verifyWebhook(secret: string | undefined, headers: WebhookHeaders, body: string | Uint8Array): Promise<WebhookEvent>;
/** Returns the bytes of a secret; throws a {@link WebhookError} if it is not valid. */
export declare function secretBytes(secret?: string): Uint8Array<ArrayBuffer>;
