import {parse, warn} from './send.js'
export function refuse(status, error, ...headers) {
	return {
		status,
		headers: [['Content-Type', 'application/json'], ['Cache-Control', 'no-store'], ...headers],
		body: JSON.stringify({error})
	}
}
export const unauthorized = () => refuse(401, 'sign in first', ['WWW-Authenticate', 'Bearer'])
export async function byToken(reeve, realm, permissions, token) {
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
export function isCrossOrigin({method, header}, origin) {
	if (/^(GET|HEAD|OPTIONS)$/.test(method) && !header('upgrade')) return false
	const site = header('sec-fetch-site')
	if (site) return site !== 'same-origin' && site !== 'none'
	return (header('origin') || origin) !== origin
}
export async function ask(reeve, method, path, options) {
	const signal = AbortSignal.timeout(reeve.timeout)
	try {
		return await reeve.exchange(method, path, {...options, signal})
	} catch (error) {
		if (signal.aborted) return undefined
		throw error
	}
}
export function failed(answer) {
	if (!answer || answer.status === 0 || answer.status === 429 || answer.status >= 500) {
		warn('permissions cannot be checked', answer?.error?.message ?? 'no response in time')
		return refuse(503, "permissions can't be checked at the moment; try again", ['Retry-After', '5'])
	}
	const {error, status} = answer
	throw new Error(`Reeve refuses the key or the origin of this program: ${error?.message ?? 'unexpected response'} (${status})`, {cause: error})
}
