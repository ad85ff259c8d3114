import { type Refusal, refuse } from './gate.js'
import { warn } from './send.js'
import { verifyWebhook, WebhookError, type WebhookEvent, type WebhookHeaders } from './webhook.js'

const maxBody = 1 << 20 // bytes

/** A function that processes an event. While it fails, Reeve sends the event again, and no later one. */
export type WebhookHandler = (event: WebhookEvent) => unknown

/** Returns the body of a request; undefined if it is longer than 1 MiB. */
export async function readBody(stream: AsyncIterable<Uint8Array>): Promise<Uint8Array | undefined> {
  const parts: Uint8Array[] = []
  let size = 0
  const iterator = stream[Symbol.asyncIterator]() // for await would close the connection before the response
  for (;;) {
    const { done, value } = await iterator.next()
    if (done) break
    size += value.length
    if (size > maxBody) return undefined
    parts.push(value)
  }
  const body = new Uint8Array(size)
  let at = 0
  for (const part of parts) {
    body.set(part, at)
    at += part.length
  }
  return body
}

/** Verifies a message and handles its event. Rejects if the handler fails; the response must then be 500. */
export async function receive(
  secret: string | undefined,
  headers: WebhookHeaders,
  body: string | Uint8Array | undefined,
  handler: WebhookHandler,
): Promise<Refusal> {
  if (body === undefined || body.length > maxBody) return refuse(413, 'the body is longer than 1 MiB', ['Connection', 'close'])
  let event: WebhookEvent
  try {
    event = await verifyWebhook(secret, headers, body)
  } catch (error) {
    if (error instanceof WebhookError) {
      warn('a webhook message was refused', error.message)
      return refuse(401, error.message)
    }
    throw error
  }
  try {
    await handler(event)
  } catch (cause) {
    // The cause could have a status, which a framework would send to Reeve.
    throw new Error(`the handler of webhook message ${event.id} has failed`, { cause })
  }
  return { status: 204, headers: [], body: '' }
}
