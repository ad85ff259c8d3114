import {follow} from './config.js'
import {follow as followEvents} from './events.js'
import {FlagReader} from './flag.js'
import {parse, send} from './send.js'
export class Reeve {
	url
	origin
	publicUrl
	timeout
	#options
	#key
	#flags
	#commit = {}
	constructor(options) {
		this.url = baseURL('url', options.url, /^https?:\/\/[^?#@]+$/i)
		this.origin = options.origin && baseURL('origin', options.origin, /^https?:\/\/[^/?#@]+\/?$/i)
		this.publicUrl = baseURL('publicUrl', options.publicUrl ?? this.url, /^https?:\/\/[^?#@]+$/i)
		this.timeout = options.timeout ?? 10_000
		this.#options = options
		this.#flags = new FlagReader(options.flagAge)
		this.#key = options.key?.trim() ?? ''
		if (/[^!-~]/.test(this.#key)) throw new TypeError('key is not valid')
	}
	as(token) {
		const other = new Reeve({...this.#options, key: token})
		other.#flags = this.#flags
		other.#commit = this.#commit
		return other
	}
	secret(use) {
		return crypto.subtle.digest('SHA-256', new TextEncoder().encode(`${use} ${this.#key}`))
	}
	async call(method, path, ...[options]) {
		const {error, text} = await this.exchange(method, path, options)
		if (error) throw error
		const value = parse(text)
		return value?.success ? value.data : (value ?? text)
	}
	exchange(method, path, {query = {}, body, headers, idempotencyKey, ...options} = {}) {
		if (path[0] !== '/') throw new TypeError('path must begin with /')
		const keyed = method === 'POST' && !!this.#key
		const values = Object.entries(query).flatMap(([name, value]) => [value ?? []].flat().map(one => [name, `${one}`]))
		return send({
			fetch: this.#options.fetch ?? fetch,
			commit: this.#commit,
			timeout: this.timeout,
			retries: this.#options.retries ?? 3,
			...options,
			method,
			url: `${this.url}${path}${values.length ? '?' : ''}${new URLSearchParams(values)}`,
			headers: {
				...headers,
				...(this.#key && {Authorization: `Bearer ${this.#key}`}),
				...(keyed && {'Idempotency-Key': idempotencyKey ?? crypto.randomUUID()}),
				...(body !== undefined && {'Content-Type': 'application/json'})
			},
			body: JSON.stringify(body),
			repeatable: keyed || /^(GET|HEAD)$/.test(method)
		})
	}
	check(token, ...permissions) {
		return this.call('POST', '/auth/check', {body: {token, permissions}})
	}
	async can(token, permission) {
		return (await this.check(token, permission)).allowed[permission] === true
	}
	signIn(username, password, realm = 'admin', client) {
		return this.#login(realm, '', {username, password}, client)
	}
	completeSignIn(login_token, otp, realm = 'admin', client) {
		return this.#login(realm, '/totp', {login_token, otp}, client)
	}
	requestSignInCode(username, client) {
		return this.#login('app', '/email', {username}, client)
	}
	signInWithCode(login_token, otp, client) {
		return this.#login('app', '/email-code', {login_token, otp}, client)
	}
	async #login(...step) {
		const {login} = await import('./login.js')
		return login(this.as(''), this.#key ? this : undefined, ...step)
	}
	async signOut(realm = 'admin') {
		const {error} = await this.exchange('POST', `/${realm === 'app' ? 'api' : 'admin'}/logout`)
		if (error && error.status !== 401) throw error
	}
	follow(query = {}) {
		return follow(this, query)
	}
	async flag(key, context, otherwise) {
		return (await this.flagDetails(key, context, otherwise)).value
	}
	flagDetails(key, context, otherwise) {
		return this.#flags.details(this, this.#key, key, context, otherwise)
	}
	events(types = [], options = {}) {
		const own = this.#options.fetch ?? fetch
		const credential = this.#key ? {Authorization: `Bearer ${this.#key}`} : {}
		const fixed = {redirect: 'manual', credentials: 'omit', cache: 'no-store'}
		return followEvents(
			(path, headers, signal) => own(this.url + path, {...fixed, headers: {...headers, ...credential}, signal}),
			this.timeout,
			types,
			options,
			this.#commit
		)
	}
}
function baseURL(name, text, pattern) {
	if (!pattern.test(text) || !URL.canParse(text)) throw new TypeError(`${name} must be like https://example.org`)
	return new URL(text).href.replace(/\/+$/, '')
}
