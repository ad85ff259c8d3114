import {byAppCookie, finishAppSignIn, isAppCallback} from './app.js'
import {ask, byToken, failed, isCrossOrigin, refuse, unauthorized} from './decide.js'
export {refuse} from './decide.js'
export {warn} from './send.js'
export const callbackPath = '/.reeve/callback'
export const signOutPath = '/.reeve/sign-out'
const permissionForm = /^(?=.{1,100}$)[a-z][a-z0-9_-]*(\.[a-z][a-z0-9_-]*){0,4}$/
export function authorize(reeve, realm, permissions) {
	for (const one of permissions) if (typeof one !== 'string' || !permissionForm.test(one)) throw new TypeError(`not the key of a permission: ${one}`)
	return async question => {
		if (realm === 'admin' && isCallback(reeve, question)) return {refusal: await finishSignIn(reeve, question)}
		if (realm === 'admin' && isSignOut(reeve, question)) return {refusal: await showSignOut(reeve, question)}
		if (realm === 'app' && isAppCallback(reeve, question)) return {refusal: await finishAppSignIn(reeve, question)}
		const [, bearer] = /^Bearer\b\s*(.*)$/i.exec(question.header('authorization') ?? '') ?? []
		if (bearer !== undefined) return byToken(reeve, realm, permissions, bearer.trim())
		if (!reeve.origin) return {refusal: unauthorized()}
		return (realm === 'app' ? byAppCookie : byCookie)(reeve, reeve.origin, permissions, question)
	}
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
export function isSignOut({origin}, {method, path}) {
	return origin !== undefined && /^(GET|POST)$/.test(method) && path.split('?')[0] === signOutPath
}
export async function showSignOut(reeve, question) {
	const {origin = ''} = reeve
	if (isCrossOrigin(question, origin)) return refuse(403, "requests of other origins can't sign out")
	const answer = await forward(reeve, origin, signOutPath, question, question.method)
	return answer?.status && answer.status < 500 ? passOn(answer) : failed(answer)
}
function forward(reeve, origin, path, {method, path: uri, header}, as = 'GET') {
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
	return ask(reeve.as(''), as, path, {headers})
}
const isPage = ({headers}) => /^text\/html\b/.test(headers.get('content-type') ?? '') && headers.has('x-request-id')
function passOn({status, headers, text}) {
	const passed = [['Cache-Control', 'no-store']]
	for (const name of ['Location', 'Content-Type', 'Content-Security-Policy', 'Refresh']) {
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
