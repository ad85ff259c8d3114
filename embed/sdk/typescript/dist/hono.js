import {checkSignOut, finishAppSignIn, isAppCallback, signOutApp} from './app.js'
import {authorize, finishSignIn, isCallback, isSignOut, showSignOut} from './gate.js'
import {readBody, receive} from './receive.js'
import {secretBytes} from './webhook.js'
export function protect(reeve, ...permissions) {
	return gate(authorize(reeve, 'admin', permissions))
}
export function protectApp(reeve, ...permissions) {
	return gate(authorize(reeve, 'app', permissions))
}
export function signOut(reeve, options = {}) {
	checkSignOut(reeve, options)
	return async ({req}) => responseOf(await signOutApp(reeve, questionOf(req.raw), options))
}
function gate(decide) {
	return async (context, next) => {
		const {caller, refusal} = await decide(questionOf(context.req.raw))
		if (refusal) return responseOf(refusal)
		context.set('caller', caller)
		await next()
		return undefined
	}
}
export function callback(reeve) {
	if (!reeve.origin) throw new TypeError('callback needs the option origin of the client')
	return async (context, next) => {
		const question = questionOf(context.req.raw)
		if (isAppCallback(reeve, question)) return responseOf(await finishAppSignIn(reeve, question))
		if (isSignOut(reeve, question)) return responseOf(await showSignOut(reeve, question))
		if (isCallback(reeve, question)) return responseOf(await finishSignIn(reeve, question))
		await next()
		return undefined
	}
}
export function webhook(secret, handler) {
	secretBytes(secret)
	return async ({req}) => {
		const {raw} = req
		const body = raw.bodyUsed ? new Uint8Array(await req.arrayBuffer()) : raw.body ? await readBody(raw.body) : ''
		return responseOf(await receive(secret, raw.headers, body, handler))
	}
}
function questionOf({method, url, headers}) {
	const {pathname, search} = new URL(url)
	return {method, path: pathname + search, header: name => headers.get(name)}
}
function responseOf({status, headers, body}) {
	return new Response(body || null, {status, headers})
}
