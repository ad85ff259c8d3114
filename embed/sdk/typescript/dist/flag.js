import {parse, warn} from './send.js'
const maxSets = 1000
export class FlagReader {
	#age
	#sets = new Map()
	#until = 0
	#failure
	constructor(age = 10_000) {
		this.#age = age
	}
	async details(reeve, credential, key, context, otherwise) {
		const failed = (errorCode, errorMessage = '') => ({value: otherwise, reason: 'ERROR', errorCode, errorMessage})
		let name
		try {
			name = `${credential}\n${JSON.stringify(context)}`
		} catch (error) {
			return failed('INVALID_CONTEXT', `${error}`)
		}
		const set = this.#set(name)
		const failure = await this.#refresh(reeve, set, context)
		const {flags} = set
		if (!flags) return failed(failure?.errorCode ?? 'GENERAL', failure?.errorMessage)
		const flag = flags.get(key)
		if (!flag) {
			const need = `system.setting.read.${key.split('.')[0]}`
			return failed('FLAG_NOT_FOUND', `the flag does not exist, or the client may not read it, which needs the permission ${need}`)
		}
		const {value, variant, reason, metadata, errorCode, errorDetails} = flag
		if (errorCode) return failed(errorCode, errorDetails)
		if (otherwise != null && typeof value !== typeof otherwise) return failed('TYPE_MISMATCH', `the value of the flag is a ${typeof value}`)
		return {
			value: value,
			...(variant !== undefined && {variant}),
			...(metadata?.warning && {warning: metadata.warning}),
			reason: failure ? 'STALE' : reason,
			...failure
		}
	}
	#set(name) {
		const set = this.#sets.get(name) ?? {until: 0}
		this.#sets.delete(name)
		this.#sets.set(name, set)
		for (const [first] of this.#sets) {
			if (this.#sets.size <= maxSets) break
			this.#sets.delete(first)
		}
		return set
	}
	async #refresh(reeve, set, context) {
		const now = Date.now()
		if (set.until > now) return set.failure
		if (this.#until > now) return this.#failure
		if (set.loading && set.flags) return set.failure
		set.loading ??= this.#load(reeve, set, context)
		return set.loading
	}
	async #load(reeve, set, context) {
		const headers = set.etag ? {'If-None-Match': set.etag} : {}
		const options = {body: {context}, headers, retries: 0, timeout: Math.min(reeve.timeout, 2000)}
		const {status, error, text, headers: received} = await reeve.exchange('POST', '/ofrep/v1/evaluate/flags', options)
		const body = parse(text)
		set.loading = undefined
		const until = Date.now() + Math.max(this.#age, Math.min(60, error?.retryAfter ?? 0) * 1000)
		const current = status === 200 && Array.isArray(body?.flags)
		if (current) {
			set.flags = new Map(body?.flags?.map(flag => [flag?.key, flag]))
			set.etag = received.get('ETag') ?? ''
		}
		if (current || (status === 304 && set.flags)) {
			set.until = until
			set.failure = undefined
			return
		}
		const {errorCode = 'GENERAL', errorDetails = error?.message ?? 'the response is not of Reeve'} = body ?? {}
		const failure = {errorCode, errorMessage: errorDetails}
		warn('flags cannot be evaluated; the last known values stay', errorDetails)
		if (status === 0 || status >= 500) {
			this.#until = until
			this.#failure = failure
		} else {
			set.until = until
			set.failure = failure
		}
		return failure
	}
}
