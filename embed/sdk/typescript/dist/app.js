import {ask, byToken, failed, isCrossOrigin, refuse, unauthorized} from './decide.js'
import {parse, warn} from './send.js'
export const appCallbackPath = '/.reeve/app'
const tokenCookie = 'reeve-app'
const beginCookie = 'reeve-app-begin-'
const beginLife = 3600
const maxBegun = 4
const maxToken = 4000
const local = /^\/(?![/\\])[!-[\]-~]*$/
export function isAppCallback({origin}, {method, path}) {
	return origin !== undefined && method === 'GET' && path.split('?')[0] === appCallbackPath
}
export async function byAppCookie(reeve, origin, permissions, question) {
	const token = cookiesOf(question)[cookieName(origin, tokenCookie)]
	if (token !== undefined && isCrossOrigin(question, origin)) {
		return {refusal: refuse(403, 'requests of other origins must have the header Authorization')}
	}
	const decision = token === undefined ? {refusal: unauthorized()} : await byToken(reeve, 'app', permissions, token)
	if (decision.refusal?.status === 401 && navigates(question)) return {refusal: await begin(reeve, origin, question)}
	return decision
}
function navigates({method, header}) {
	if (method !== 'GET' || !header('accept')?.includes('text/html') || header('x-requested-with')) return false
	const dest = header('sec-fetch-dest')
	return dest ? dest === 'document' : /^(navigate)?$/.test(header('sec-fetch-mode') ?? '')
}
async function begin(reeve, origin, question) {
	const path = local.test(question.path) && question.path.length <= 1500 ? question.path : '/'
	const one = {s: randomText(16), v: randomText(32), p: path, e: Math.floor(Date.now() / 1000) + beginLife}
	const cookies = []
	const names = Object.keys(cookiesOf(question)).filter(name => name.startsWith(cookieName(origin, beginCookie)))
	if (names.length >= maxBegun) cookies.push(...names.map(name => cookie(origin, name, '', 0)))
	cookies.push(cookie(origin, nameOf(origin, one.s), await seal(reeve, one), beginLife))
	const challenge = base64url(new Uint8Array(await crypto.subtle.digest('SHA-256', new TextEncoder().encode(one.v))))
	const query = {to: origin + appCallbackPath, state: one.s, code_challenge: challenge, code_challenge_method: 'S256'}
	return redirect(`${reeve.publicUrl}/app/sign-in?${new URLSearchParams(query)}`, cookies)
}
export async function finishAppSignIn(reeve, question) {
	const {origin = ''} = reeve
	const query = new URLSearchParams(question.path.split('?')[1])
	const code = query.get('code')
	const one = await begun(reeve, origin, question, query.get('state') ?? '')
	if (!one || !code) return unfinished(question, '/')
	const drop = cookie(origin, nameOf(origin, one.s), '', 0)
	const body = {code_token: code, code_verifier: one.v, to: origin + appCallbackPath, state: one.s}
	const answer = await ask(reeve.as(''), 'POST', '/api/login/code', {body})
	if (answer?.error?.code === 'return_code' || answer?.status === 422) return unfinished(question, one.p, drop)
	const session = parse(answer?.text ?? '')?.data
	if (!answer || answer.error || !session?.token) return failed(answer)
	await endFormer(reeve, origin, question)
	const life = Math.floor((Date.parse(session.expires_at) - Date.now()) / 1000)
	return redirect(one.p, [drop, cookie(origin, cookieName(origin, tokenCookie), session.token, life)])
}
export async function signOutApp(reeve, question, options = {}) {
	const {origin, to, everywhere} = checkSignOut(reeve, options)
	if (question.method !== 'POST') return refuse(405, 'method not allowed', ['Allow', 'POST'])
	if (isCrossOrigin(question, origin)) return refuse(403, "requests of other origins can't sign out")
	await endFormer(reeve, origin, question)
	const page = `${reeve.publicUrl}/app/sign-out?${new URLSearchParams({to: origin + to})}`
	return redirect(everywhere ? page : to, [cookie(origin, cookieName(origin, tokenCookie), '', 0)])
}
export function checkSignOut({origin}, {to = '/', everywhere = false}) {
	if (!origin || !local.test(to)) throw new TypeError('signing out needs the option origin of the client, and a path')
	return {origin, to, everywhere}
}
async function endFormer(reeve, origin, question) {
	const token = cookiesOf(question)[cookieName(origin, tokenCookie)]
	if (!token || token.length > maxToken) return
	try {
		await reeve.as(token).signOut('app')
	} catch (error) {
		warn('a session could not be ended; it ends when it expires', error.message)
	}
}
function redirect(to, cookies) {
	const headers = [
		['Location', to],
		['Cache-Control', 'no-store'],
		['Referrer-Policy', 'no-referrer']
	]
	for (const one of cookies) headers.push(['Set-Cookie', one])
	return {status: 303, headers, body: ''}
}
function unfinished({header}, path, ...cookies) {
	const chinese = /^zh/i.test(header('accept-language') ?? '')
	const [language, text, link] = chinese
		? ['zh-CN', '此次登录已过期或已完成。', '继续']
		: ['en', 'This sign-in has expired, or was completed already.', 'Continue']
	const href = path.replace(/[&"<>']/g, c => `&#${c.charCodeAt(0)};`)
	return {
		status: 403,
		headers: [
			['Content-Type', 'text/html; charset=utf-8'],
			['Content-Security-Policy', "default-src 'none'; frame-ancestors 'none'"],
			['Cache-Control', 'no-store'],
			['Referrer-Policy', 'no-referrer'],
			...cookies.map(one => ['Set-Cookie', one])
		],
		body: `<!doctype html><html lang="${language}"><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>${text}</title><p>${text}</p><p><a href="${href}">${link}</a></p></html>`
	}
}
function cookieName(origin, name) {
	const {protocol, port} = new URL(origin)
	return `${protocol === 'https:' ? '__Host-' : ''}${port ? `p${port}-` : ''}${name}`
}
const nameOf = (origin, state) => cookieName(origin, beginCookie + state.slice(0, 8))
function cookie(origin, name, value, seconds) {
	return `${name}=${value}; Path=/; Max-Age=${seconds}; HttpOnly; SameSite=Lax${origin.startsWith('https:') ? '; Secure' : ''}`
}
function cookiesOf({header}) {
	const pairs = (header('cookie') ?? '').split(/;\s*/).map(pair => pair.split(/=(.*)/s))
	return Object.fromEntries(pairs.map(([name, value = '']) => [name, value]))
}
const base64url = bytes => btoa(String.fromCharCode(...bytes)).replace(/[+/=]/g, c => ({'+': '-', '/': '_'})[c] ?? '')
const fromBase64url = text => Uint8Array.from(atob(text.replace(/[-_]/g, c => (c === '-' ? '+' : '/'))), c => c.charCodeAt(0))
const randomText = bytes => base64url(crypto.getRandomValues(new Uint8Array(bytes)))
async function keyOf(reeve) {
	const secret = await reeve.secret('app sign-in')
	return crypto.subtle.importKey('raw', secret, {name: 'HMAC', hash: 'SHA-256'}, false, ['sign', 'verify'])
}
async function seal(reeve, one) {
	const text = new TextEncoder().encode(JSON.stringify(one))
	return `${base64url(text)}.${base64url(new Uint8Array(await crypto.subtle.sign('HMAC', await keyOf(reeve), text)))}`
}
async function begun(reeve, origin, question, state) {
	const [value = '', signature = ''] = (cookiesOf(question)[nameOf(origin, state)] ?? '').split('.')
	try {
		const text = fromBase64url(value)
		if (!(await crypto.subtle.verify('HMAC', await keyOf(reeve), fromBase64url(signature), text))) return undefined
		const one = JSON.parse(new TextDecoder().decode(text))
		return one.s === state && Date.now() / 1000 < one.e && local.test(one.p) ? one : undefined
	} catch {
		return undefined
	}
}
