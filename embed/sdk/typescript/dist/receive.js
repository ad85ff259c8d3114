import {refuse} from './gate.js'
import {warn} from './send.js'
import {verifyWebhook, WebhookError} from './webhook.js'
const maxBody = 1 << 20
export async function readBody(stream) {
	const parts = []
	let size = 0
	const iterator = stream[Symbol.asyncIterator]()
	for (;;) {
		const {done, value} = await iterator.next()
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
export async function receive(secret, headers, body, handler) {
	if (body === undefined || body.length > maxBody) return refuse(413, 'the body is longer than 1 MiB', ['Connection', 'close'])
	let event
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
		throw new Error(`the handler of webhook message ${event.id} has failed`, {cause})
	}
	return {status: 204, headers: [], body: ''}
}
