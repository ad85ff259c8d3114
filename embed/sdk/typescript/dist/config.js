import {failureOf, parse, pause} from './send.js'
export async function follow(reeve, {groups, dicts}) {
	const stop = new AbortController()
	const {signal} = stop
	const changed = new Set()
	const failed = new Set()
	const adder = listeners => fn => {
		listeners.add(fn)
		return () => void listeners.delete(fn)
	}
	const tell = (listeners, error) => {
		if (listeners === failed && !failed.size) console.warn('Reeve: follow', error)
		for (const fn of listeners) (async () => fn(error))().catch(error => listeners === changed && tell(failed, error))
	}
	const config = {settings: {}, dicts: {}, withheld: [], onChange: adder(changed), onError: adder(failed), close: () => stop.abort()}
	let known = {}
	async function read(seconds, retries) {
		const query = {groups: groups?.join(), dicts: dicts?.join(), wait: seconds}
		const timeout = reeve.timeout + seconds * 1000
		const {error, status, headers, text} = await reeve.exchange('GET', '/config', {query, headers: known, signal, timeout, ...retries})
		if (error) throw error
		if (status === 304) return
		const values = parse(text)?.data
		if (!values) throw failureOf(reeve.url, status, headers, '')
		known = {'If-None-Match': headers.get('ETag') ?? ''}
		Object.assign(config, values)
		tell(changed)
	}
	async function run() {
		for (let failures = 0; !signal.aborted; ) {
			let next = Date.now() + 1000
			try {
				await read(30, {retries: 0})
				failures = 0
			} catch (error) {
				if (!signal.aborted) tell(failed, error)
				next = Date.now() + Math.min(30_000, 1000 * 2 ** failures++) * (0.5 + Math.random() / 2)
			}
			await pause(next - Date.now(), signal).catch(() => {})
		}
	}
	await read(0)
	void run()
	return config
}
