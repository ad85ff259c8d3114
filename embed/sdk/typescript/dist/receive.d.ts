import { type Refusal } from './gate.js';
import { type WebhookEvent, type WebhookHeaders } from './webhook.js';
/** A function that processes an event. While it fails, Reeve sends the event again, and no later one. */
export type WebhookHandler = (event: WebhookEvent) => unknown;
/** Returns the body of a request; undefined if it is longer than 1 MiB. */
export declare function readBody(stream: AsyncIterable<Uint8Array>): Promise<Uint8Array | undefined>;
/** Verifies a message and handles its event. Rejects if the handler fails; the response must then be 500. */
export declare function receive(secret: string | undefined, headers: WebhookHeaders, body: string | Uint8Array | undefined, handler: WebhookHandler): Promise<Refusal>;
