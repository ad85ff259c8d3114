import {parse, ReeveError, warn} from './send.js'
export async function login(anonymous, program, ...[realm, path, proof, client = {}]) {
	const {address, userAgent, deviceToken, language} = client
	const body = {...proof, device_token: deviceToken}
	const headers = language ? {'Accept-Language': language} : {}
	if (realm === 'app' && address && program) {
		const {error, text} = await program.exchange('POST', `/auth/login${path}`, {body: {...body, address, user_agent: userAgent}, headers})
		if (!error) return parse(text)?.data
		if (error.code !== 'denied' && error.code !== 'not_found') throw error
		const why = error.code === 'denied' ? 'the key lacks the permission auth.login' : 'the server is older than 0.16'
		warn('signIn', `${why}, so the address of the client counts only if this program is in server.trusted_proxies`)
	}
	if (address) headers['X-Forwarded-For'] = address
	if (userAgent) headers['User-Agent'] = userAgent
	const own = `/${realm === 'app' ? 'api' : 'admin'}/login${path}`
	const {error, text} = await anonymous.exchange('POST', own, {body, headers})
	if (error?.code === 'not_found') throw new ReeveError(`the server is too old: it has no ${own}`, error)
	if (error) throw error
	return parse(text)?.data
}
