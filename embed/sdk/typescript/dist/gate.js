import {parse, warn} from './send.js'
export {warn} from './send.js'
export const callbackPath = '/.reeve/callback'
export function refuse(status, error, ...headers) {
	return {
		status,
		headers: [['Content-Type', 'application/json'], ['Cache-Control', 'no-store'], ...headers],
		body: JSON.stringify({error})
	}
}
const permissionForm = /^(?=.{1,100}$)[a-z][a-z0-9_-]*(\.[a-z][a-z0-9_-]*){0,4}$/
const unauthorized = () => refuse(401, 'sign in first', ['WWW-Authenticate', 'Bearer'])
export function authorize(reeve, realm, permissions) {
	for (const one of permissions) if (typeof one !== 'string' || !permissionForm.test(one)) throw new TypeError(`not the key of a permission: ${one}`)
	return async question => {
		if (realm === 'admin' && isCallback(reeve, question)) return {refusal: await finishSignIn(reeve, question)}
		const [, bearer] = /^Bearer\b\s*(.*)$/i.exec(question.header('authorization') ?? '') ?? []
		if (bearer !== undefined) return byToken(reeve, realm, permissions, bearer.trim())
		if (reeve.origin && realm === 'admin') return byCookie(reeve, reeve.origin, permissions, question)
		return {refusal: unauthorized()}
	}
}
async function byToken(reeve, realm, permissions, token) {
	if (!token || token.length > 4000) return {refusal: unauthorized()}
	const answer = await ask(reeve, 'POST', '/auth/check', {body: {token, permissions}})
	if (!answer || answer.error) return {refusal: failed(answer)}
	const check = parse(answer.text)?.data
	if (!check?.allowed) return {refusal: failed(answer)}
	const {active, user, allowed, unknown = [], data_scope: scope} = check
	if (!active || user?.realm !== realm) return {refusal: unauthorized()}
	const missing = permissions.find(one => allowed[one] !== true)
	if (missing) return {refusal: refuse(403, unknown.includes(missing) ? `there is no permission ${missing}` : `permission ${missing} is required`)}
	return {caller: {...user, realm, scope}}
}
async function byCookie(reeve, origin, permissions, question) {
	if (isCrossOrigin(question, origin)) return {refusal: refuse(403, 'requests of other origins must have the header Authorization')}
	const need = permissions.length ? `?need=${permissions.map(encodeURIComponent).join()}` : ''
	const answer = await forward(reeve, origin, `/auth/verify${need}`, question)
	switch (answer?.status) {
		case 204:
			return {caller: callerIn(answer.headers)}
		case 302:
			return {refusal: passOn(answer)}
		case 401:
			return {refusal: unauthorized()}
	}
	if (answer?.status === 403 && isPage(answer)) return {refusal: passOn(answer)}
	const {code = 'bad_response', message = ''} = answer?.error ?? {}
	if (answer?.status === 403 && code !== 'unknown_origin' && code !== 'bad_response') return {refusal: refuse(403, message)}
	return {refusal: failed(answer)}
}
export function isCallback({origin}, {method, path}) {
	return origin !== undefined && method === 'GET' && path.split('?')[0] === callbackPath
}
export async function finishSignIn(reeve, question) {
	const answer = await forward(reeve, reeve.origin ?? '', question.path, question)
	return answer?.status && answer.status < 500 ? passOn(answer) : failed(answer)
}
function isCrossOrigin({method, header}, origin) {
	if (/^(GET|HEAD|OPTIONS)$/.test(method) && !header('upgrade')) return false
	const site = header('sec-fetch-site')
	if (site) return site !== 'same-origin' && site !== 'none'
	return (header('origin') || origin) !== origin
}
function forward(reeve, origin, path, {method, path: uri, header}) {
	const {protocol, host} = new URL(origin)
	const own = (header('cookie') ?? '').split(/;\s*/).filter(cookie => /^(__Host-)?reeve-(forward|state)/.test(cookie))
	const headers = {
		'X-Forwarded-Proto': protocol.slice(0, -1),
		'X-Forwarded-Host': host,
		'X-Forwarded-Uri': uri,
		'X-Forwarded-Method': method,
		Accept: header('accept') ?? '*/*'
	}
	for (const name of ['Accept-Language', 'Sec-Fetch-Dest', 'X-Requested-With']) {
		const value = header(name.toLowerCase())
		if (value) headers[name] = value
	}
	if (own.length) headers.Cookie = own.join('; ')
	return ask(reeve.as(''), 'GET', path, {headers})
}
async function ask(reeve, method, path, options) {
	const signal = AbortSignal.timeout(reeve.timeout)
	try {
		return await reeve.exchange(method, path, {...options, signal})
	} catch (error) {
		if (signal.aborted) return undefined
		throw error
	}
}
function failed(answer) {
	if (!answer || answer.status === 0 || answer.status === 429 || answer.status >= 500) {
		warn('permissions cannot be checked', answer?.error?.message ?? 'no response in time')
		return refuse(503, "permissions can't be checked at the moment; try again", ['Retry-After', '5'])
	}
	const {error, status} = answer
	throw new Error(`Reeve refuses the key or the origin of this program: ${error?.message ?? 'unexpected response'} (${status})`, {cause: error})
}
const isPage = ({headers}) => /^text\/html\b/.test(headers.get('content-type') ?? '') && headers.has('x-request-id')
function passOn({status, headers, text}) {
	const passed = [['Cache-Control', 'no-store']]
	for (const name of ['Location', 'Content-Type', 'Content-Security-Policy']) {
		const value = headers.get(name)
		if (value) passed.push([name, value])
	}
	for (const cookie of headers.getSetCookie()) passed.push(['Set-Cookie', cookie])
	return {status, headers: passed, body: text}
}
function callerIn(headers) {
	const text = name => decodeURIComponent(headers.get(name) ?? '')
	const id = Number(headers.get('X-Reeve-User'))
	const username = text('Remote-User')
	const scope = headers.get('X-Reeve-Scope') ?? ''
	const all = scope === 'all'
	const depts = all ? '' : /;depts=([\d,]*)$/.exec(scope)?.[1]
	if (!(id > 0) || !username || depts === undefined) {
		throw new Error('the headers of /auth/verify have another form than expected; is the URL of Reeve right?')
	}
	return {
		id,
		username,
		realm: 'admin',
		name: text('Remote-Name'),
		email: text('Remote-Email'),
		groups: (headers.get('Remote-Groups') ?? '').split(',').filter(Boolean).map(decodeURIComponent),
		scope: {all, user_id: id, dept_ids: depts.split(',').filter(Boolean).map(Number)}
	}
}
