import {spawn} from 'node:child_process'
import process from 'node:process'
import {Reeve} from './client.js'
export async function start({setup = [], program, env} = {}) {
	const child = spawn(program ?? process.env.REEVE ?? 'reeve', ['dev', '--json', '--stdin', ...setup], {env: {...process.env, ...env}})
	let log = ''
	child.stderr.setEncoding('utf8')
	child.stderr.on('data', text => (log += text))
	const ended = new Promise((resolve, reject) => {
		child.on('error', error => reject(new Error(`Reeve did not start; its path is in the variable REEVE unless it is in PATH: ${error.message}`)))
		child.on('close', code => (code ? reject(new Error(`Reeve ended with exit code ${code}: ${log}`)) : resolve()))
	})
	ended.catch(() => {})
	const line = new Promise(resolve => {
		let text = ''
		child.stdout.setEncoding('utf8')
		child.stdout.on('data', part => {
			text += part
			if (text.endsWith('\n')) resolve(text)
		})
	})
	const started = await Promise.race([line, ended.then(() => Promise.reject(new Error(`Reeve ended: ${log}`)))])
	const {url, token, keys, webhooks} = JSON.parse(started)
	const owner = new Reeve({url, key: token})
	return {
		url,
		owner,
		keys,
		webhooks,
		user: (realm, ...roles) => newUser(owner, realm, roles),
		stop() {
			child.stdin.end()
			return ended
		}
	}
}
async function newUser(owner, realm, roles) {
	const username = `test-${crypto.randomUUID().slice(0, 8)}`
	const password = crypto.randomUUID()
	const {id} = await owner.call('POST', realm === 'app' ? '/user/list' : '/admin/list', {body: {username, password, roles}})
	const {token} = await owner.signIn(username, password, realm)
	return {id, username, password, token}
}
