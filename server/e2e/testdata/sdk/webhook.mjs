// Messages of webhooks that are valid, and those that are not.
import { strict as assert } from 'node:assert'
import { createHmac, randomBytes } from 'node:crypto'
import { verifyWebhook, WebhookError } from '@reeve/client'
import { webhook } from '@reeve/client/express'

const [secret, other] = [randomBytes(32), randomBytes(32)].map((bytes) => `whsec_${bytes.toString('base64')}`)
const body = '{"type":"user.updated","timestamp":"2026-11-23T10:00:00.000000Z","data":{"name":"Zoë"}}'
const now = Math.floor(Date.now() / 1000)

function sign(secret, id, timestamp, body) {
  const hmac = createHmac('sha256', Buffer.from(secret.slice(6), 'base64'))
  return `v1,${hmac.update(`${id}.${timestamp}.${body}`).digest('base64')}`
}
function message({ id = 'msg-1', timestamp = now, signature = sign(secret, id, timestamp, body) } = {}) {
  return { 'webhook-id': id, 'webhook-timestamp': String(timestamp), 'webhook-signature': signature }
}

const event = { id: 'msg-1', type: 'user.updated', timestamp: '2026-11-23T10:00:00.000000Z', data: { name: 'Zoë' } }
assert.deepEqual(await verifyWebhook(secret, message(), body), event)
assert.deepEqual(await verifyWebhook(secret, new Headers(message()), new TextEncoder().encode(body)), event)
const both = `${sign(other, 'msg-1', now, body)} ${sign(secret, 'msg-1', now, body)}`
for (const one of [secret, other]) assert.deepEqual(await verifyWebhook(one, message({ signature: both }), body), event)
await verifyWebhook(secret, message({ signature: `v2,abc nonsense v1, v1,%%% ${sign(secret, 'msg-1', now, body)}` }), body)
await verifyWebhook(secret, message({ timestamp: now - 290 }), body)
await verifyWebhook(secret, message({ timestamp: now + 290 }), body)

const wrong = (headers, text, pattern) => assert.rejects(verifyWebhook(secret, headers, text), (e) => e instanceof WebhookError && pattern.test(e.message))
await wrong(message(), `${body} `, /signature is not valid/)
await wrong(message({ signature: sign(other, 'msg-1', now, body) }), body, /signature is not valid/)
await wrong(message({ signature: sign(secret, 'msg-2', now, body) }), body, /signature is not valid/)
await wrong(message({ signature: sign(secret, 'msg-1', now - 1, body) }), body, /signature is not valid/)
await wrong(message({ signature: sign(secret, 'msg-1', now, body).slice(0, -4) }), body, /signature is not valid/)
await wrong(message({ signature: sign(secret, 'msg-1', now, body).slice(3) }), body, /signature is not valid/)
await wrong(message({ timestamp: now - 310 }), body, /not current/)
await wrong(message({ timestamp: now + 310 }), body, /not current/)
await wrong(message({ timestamp: 'soon' }), body, /timestamp/)
for (const name of Object.keys(message())) {
  const { [name]: _, ...rest } = message()
  await wrong(rest, body, new RegExp(`${name} is missing`))
}
for (const bad of ['', 'whsec_', 'whsec_%%', 'whsec_c2hvcnQ=', secret.slice(6)]) assert.throws(() => webhook(bad, () => {}), WebhookError)

// A decoded body cannot be verified.
const errors = []
await new Promise((resolve) => webhook(secret, () => {})({ headers: message(), body: JSON.parse(body) }, {}, (error) => resolve(errors.push(error))))
assert.match(errors[0].message, /before express\.json/)
