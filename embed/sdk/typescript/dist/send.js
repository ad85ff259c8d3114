export class ReeveError extends Error {
	constructor(message, detail) {
		super(message, detail)
		Object.assign(this, {name: 'ReeveError', errors: {}, requestId: ''}, detail)
	}
}
export async function send(r) {
	for (let attempt = 0; ; attempt++) {
		const received = await sendOnce(r)
		const {status = 200, code = '', retryAfter = 0} = received.error ?? {}
		const refused = status === 503 && !/^(bad_response|write_outcome_unknown)$/.test(code)
		const passes = status === 429 || (r.repeatable ? [0, 502, 503, 504].includes(status) : refused)
		if (!passes || !(attempt < r.retries) || retryAfter > 10) return received
		await pause(retryAfter * 1000 || 100 * 2 ** attempt * (0.5 + Math.random()), r.signal)
	}
}
export async function pause(milliseconds, signal) {
	await new Promise(resolve => {
		const end = after(milliseconds, signal, () => resolve(end()))
	})
	signal?.throwIfAborted()
}
function after(milliseconds, signal, fn) {
	signal?.throwIfAborted()
	const timer = setTimeout(fn, milliseconds)
	signal?.addEventListener('abort', fn)
	return () => {
		clearTimeout(timer)
		signal?.removeEventListener('abort', fn)
	}
}
export function note(commit, at) {
	const last = commit.at ?? ''
	if (at && (at.split('-')[0] !== last.split('-')[0] || (at.length - last.length || Number(at > last)) > 0)) commit.at = at
}
async function sendOnce({url, timeout, signal, fetch, commit, ...init}) {
	const stop = new AbortController()
	const end = after(timeout, signal, () => stop.abort())
	try {
		if (commit.at) init.headers['Reeve-Commit'] = commit.at
		const response = await fetch(url, {...init, signal: stop.signal, redirect: 'manual', credentials: 'omit'})
		const {ok, status, headers} = response
		note(commit, headers.get('Reeve-Commit'))
		const text = await response.text()
		return {status, headers, text, error: ok || status === 304 ? undefined : failureOf(url, status, headers, text)}
	} catch (cause) {
		signal?.throwIfAborted()
		const code = stop.signal.aborted ? 'timeout' : 'unreachable'
		const {code: why = code} = cause.cause ?? {}
		return {status: 0, headers: new Headers(), text: '', error: new ReeveError(`no response from ${new URL(url).origin}: ${why}`, {status: 0, code, cause})}
	} finally {
		end()
	}
}
export function failureOf(url, status, headers, text) {
	const {msg = `${url.split('?')[0]} does not answer like Reeve (${status})`, errorCode: code = 'bad_response', errors = {}, requestId = ''} = parse(text) ?? {}
	const header = headers.get('Retry-After')
	const seconds = Number(header) || (Date.parse(header ?? '') - Date.now()) / 1000
	return new ReeveError(msg, {status, code, errors, requestId, retryAfter: seconds > 0 ? seconds : undefined})
}
export function parse(text) {
	try {
		return JSON.parse(text)
	} catch {}
}
const last = {}
export function warn(kind, reason) {
	if (Date.now() - (last[kind] ?? 0) < 10_000) return
	last[kind] = Date.now()
	console.warn(`Reeve: ${kind}: ${reason}`)
}
