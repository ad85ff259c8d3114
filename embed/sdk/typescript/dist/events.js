import {failureOf, note, pause, ReeveError, warn} from './send.js'
const idle = 45_000
const maxLine = 16 << 20
const maxPause = 30_000
export async function* follow(connect, timeout, types, {signal, after = ''}, commit) {
	const query = types.length ? `?${new URLSearchParams({types: types.join()})}` : ''
	let last = after
	let retry = 1000
	let failures = 0
	let opened = false
	while (!signal?.aborted) {
		const stop = new AbortController()
		const end = () => stop.abort()
		let timer
		const alive = milliseconds => {
			clearTimeout(timer)
			timer = setTimeout(end, milliseconds)
		}
		let wait = 0
		signal?.addEventListener('abort', end)
		try {
			alive(timeout)
			const headers = {
				Accept: 'text/event-stream',
				...(last && {'Last-Event-ID': last}),
				...(commit.at && {'Reeve-Commit': commit.at})
			}
			const response = await connect(`/system/event${query}`, headers, stop.signal)
			for await (const frame of frames(
				response,
				last,
				() => alive(idle),
				milliseconds => (retry = milliseconds)
			)) {
				last = frame.id
				if (!frame.data) continue
				const data = decode(frame.data)
				note(commit, data.commit)
				if (frame.type === 'open') {
					failures = 0
					check(types, data, opened)
					if (opened) continue
					opened = true
				}
				clearTimeout(timer)
				yield {id: last, type: frame.type, timestamp: data.at ?? '', data}
				alive(idle)
			}
		} catch (error) {
			if (signal?.aborted) return
			if (error instanceof ReeveError && isFinal(error, opened)) throw error
			warn('events cannot be read; trying again', `${error}`)
			wait = error instanceof ReeveError ? Math.min(300, error.retryAfter ?? 0) * 1000 : 0
		} finally {
			clearTimeout(timer)
			signal?.removeEventListener('abort', end)
			end()
		}
		const next = Math.min(maxPause, retry * 2 ** failures++) + Math.random() * retry
		await pause(Math.max(wait, next), signal).catch(() => {})
	}
}
function isFinal({status, code}, opened) {
	if ([401, 403, 422].includes(status)) return true
	if (status === 0 || status === 429 || status >= 500) return false
	return code !== 'bad_response' || !opened
}
function decode(text) {
	try {
		return JSON.parse(text)
	} catch (cause) {
		throw new ReeveError('an event has another form than expected; is the URL right?', {status: 200, code: 'bad_response', cause})
	}
}
function check(types, {types: come = [], missing = []}, opened) {
	for (const want of types) {
		const matches = type => type === want || (want.endsWith('*') && type.startsWith(want.slice(0, -1)))
		const first = missing.find(({type}) => matches(type))
		if (first && !come.some(matches)) throw new ReeveError(`no event of the type ${want} can come: ${first.reason}`, {status: 403, code: 'forbidden'})
	}
	if (types.length && missing.length && !opened) warn('some of the events cannot come', missing.map(({type, reason}) => `${type}: ${reason}`).join('; '))
}
async function* frames(response, last, alive, delay) {
	const {status, headers, body, url} = response
	if (status !== 200 || !/^text\/event-stream\b/.test(headers.get('content-type') ?? '') || !body) {
		throw failureOf(url || 'the server', status, headers, await response.text())
	}
	const reader = body.getReader()
	const decoder = new TextDecoder()
	let rest = ''
	let frame = {id: last, type: '', data: ''}
	for (;;) {
		const {done, value} = await reader.read()
		if (done) return
		alive()
		const lines = (rest + decoder.decode(value, {stream: true})).split('\n')
		rest = lines.pop() ?? ''
		if (rest.length > maxLine) throw new ReeveError('an event is too long', {status, code: 'too_large'})
		for (const line of lines.map(text => text.replace(/\r$/, ''))) {
			const [, field = '', text = ''] = /^([^:]*)(?:: ?(.*))?$/.exec(line) ?? []
			if (field === 'id') frame.id = text
			else if (field === 'event') frame.type = text
			else if (field === 'data') frame.data += text
			else if (field === 'retry' && Number(text) > 0) delay(Math.min(maxPause, Number(text)))
			else if (line === '') {
				yield frame
				frame = {id: frame.id, type: '', data: ''}
			}
		}
	}
}
