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
	return handle(async (request, response) => send(response, await signOutApp(reeve, questionOf(request), options)))
}
function gate(decide) {
	return handle(async (request, response) => {
		const {caller, refusal} = await decide(questionOf(request))
		if (refusal) return send(response, refusal)
		request.caller = caller
		return true
	})
}
export function callback(reeve) {
	if (!reeve.origin) throw new TypeError('callback needs the option origin of the client')
	return handle(async (request, response) => {
		const question = questionOf(request)
		if (isAppCallback(reeve, question)) return send(response, await finishAppSignIn(reeve, question))
		if (isSignOut(reeve, question)) return send(response, await showSignOut(reeve, question))
		if (!isCallback(reeve, question)) return true
		return send(response, await finishSignIn(reeve, question))
	})
}
export function webhook(secret, handler) {
	secretBytes(secret)
	return handle(async (request, response) => {
		let body = request.body
		if (body === undefined) body = await readBody(request)
		else if (typeof body !== 'string' && !(body instanceof Uint8Array)) throw new Error('the body was decoded before: register webhook() before express.json()')
		return send(response, await receive(secret, request.headers, body, handler))
	})
}
function handle(fn) {
	return (request, response, next) => void fn(request, response).then(goesOn => goesOn && next(), next)
}
function questionOf({method = 'GET', originalUrl, url, headers}) {
	return {method, path: originalUrl ?? url ?? '/', header: name => headers[name]?.toString()}
}
function send(response, {status, headers, body}) {
	response.statusCode = status
	for (const [name, value] of headers) {
		if (name === 'Set-Cookie') response.appendHeader(name, value)
		else response.setHeader(name, value)
	}
	response.end(body)
	return false
}
