/** A change that Reeve has sent to a webhook. */
export interface WebhookEvent {
  /** ID of the message, the same in every attempt and replay: keep those that you have processed, and do nothing twice. */
  id: string
  /** Type, such as `user.updated`. */
  type: string
  /** Time of the change, RFC 3339. */
  timestamp: string
  /** The change, as event streams send it. */
  data: WebhookData
}

/** What was changed. Some types have other members. */
export interface WebhookData {
  /** Number of the entry of the change log. */
  seq: number
  /** Kind and ID of the record. */
  collection: string
  record: number
  /** Name of the record. */
  name: string
  /** `create`, `update` or `delete`. */
  operation: string
  /** Changed fields with their old and new values, as far as the owner of the webhook may read them. */
  fields: { name: string; old?: unknown; new?: unknown }[]
  // biome-ignore lint/suspicious/noExplicitAny: see the manual's chapter Webhooks
  [member: string]: any
}

/** A message that does not come from Reeve, or a secret that is not valid. */
export class WebhookError extends Error {
  override name = 'WebhookError'
}

/** Headers of a request: those of `fetch`, or an object with names in lower case as in Node. */
export type WebhookHeaders = Headers | Readonly<Record<string, string | string[] | undefined>>

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
export async function verifyWebhook(secret: string | undefined, headers: WebhookHeaders, body: string | Uint8Array): Promise<WebhookEvent> {
  const [id, timestamp, signatures] = ['webhook-id', 'webhook-timestamp', 'webhook-signature'].map((name) => {
    const value = headers instanceof Headers ? headers.get(name) : headers[name]
    if (!value) throw new WebhookError(`the header ${name} is missing`)
    return String(value)
  }) as [string, string, string]
  if (!(Math.abs(Date.now() / 1000 - Number(timestamp)) <= 300)) throw new WebhookError('timestamp is not current') // five minutes
  const key = await crypto.subtle.importKey('raw', secretBytes(secret), { name: 'HMAC', hash: 'SHA-256' }, false, ['verify'])
  const signed = await new Blob([id, '.', timestamp, '.', body as BlobPart]).arrayBuffer()
  // While a secret is being rotated, there is a signature of each.
  for (const one of signatures.split(' ')) {
    const signature = one.startsWith('v1,') && decode(one.slice(3))
    // In constant time.
    if (signature && (await crypto.subtle.verify('HMAC', key, signature, signed))) return { ...JSON.parse(await new Blob([body as BlobPart]).text()), id }
  }
  throw new WebhookError('signature is not valid')
}

/** Returns the bytes of a secret; throws a {@link WebhookError} if it is not valid. */
export function secretBytes(secret = ''): Uint8Array<ArrayBuffer> {
  const bytes = /^whsec_/.test(secret) && decode(secret.slice(6))
  if (!bytes || bytes.length < 24) throw new WebhookError('the secret must be whsec_ and the base64 of at least 24 bytes')
  return bytes
}

// decode returns undefined for what is not base64.
function decode(base64: string): Uint8Array<ArrayBuffer> | undefined {
  try {
    return Uint8Array.from(atob(base64), (c) => c.charCodeAt(0))
  } catch {} // undefined
}
