export class WebhookError extends Error {
	name = 'WebhookError'
}
export async function verifyWebhook(secret, headers, body) {
	const [id, timestamp, signatures] = ['webhook-id', 'webhook-timestamp', 'webhook-signature'].map(name => {
		const value = headers instanceof Headers ? headers.get(name) : headers[name]
		if (!value) throw new WebhookError(`the header ${name} is missing`)
		return String(value)
	})
	if (!(Math.abs(Date.now() / 1000 - Number(timestamp)) <= 300)) throw new WebhookError('timestamp is not current')
	const key = await crypto.subtle.importKey('raw', secretBytes(secret), {name: 'HMAC', hash: 'SHA-256'}, false, ['verify'])
	const signed = await new Blob([id, '.', timestamp, '.', body]).arrayBuffer()
	for (const one of signatures.split(' ')) {
		const signature = one.startsWith('v1,') && decode(one.slice(3))
		if (signature && (await crypto.subtle.verify('HMAC', key, signature, signed))) return {...JSON.parse(await new Blob([body]).text()), id}
	}
	throw new WebhookError('signature is not valid')
}
export function secretBytes(secret = '') {
	const bytes = /^whsec_/.test(secret) && decode(secret.slice(6))
	if (!bytes || bytes.length < 24) throw new WebhookError('the secret must be whsec_ and the base64 of at least 24 bytes')
	return bytes
}
function decode(base64) {
	try {
		return Uint8Array.from(atob(base64), c => c.charCodeAt(0))
	} catch {}
}
