// A sign-in form of a program with a second factor and with codes by mail, which come on standard input.
import { strict as assert } from 'node:assert'
import { createInterface } from 'node:readline/promises'
import { Reeve } from '@reeve/client'

const { SERVER: url, KEY: key, PASSWORD: password, RECOVERY: recovery } = process.env
const reeve = new Reeve({ url, key })
const [first, second] = recovery.split(' ')
const client = { address: '203.0.113.7', userAgent: 'Mozilla/5.0 (X11; Linux x86_64) Chrome/140.0', language: 'zh-CN,zh;q=0.9' }

let session = await reeve.signIn('ann', password, 'app', client)
assert.deepEqual([session.token, session.login_token !== '', session.methods], ['', true, ['otp', 'recovery']])
const complete = (code, from) => reeve.completeSignIn(session.login_token, code, 'app', from)
await assert.rejects(complete('000000', client), { name: 'ReeveError', status: 401, code: 'wrong_code', message: /验证码/ })
await assert.rejects(complete(first, { address: client.address }), { name: 'ReeveError', status: 401, code: 'sign_in_again' })
session = await complete(first, client)
assert.deepEqual([session.token !== '', session.login_token, session.device_token !== ''], [true, '', true])
console.log('signed in with a password')

const known = { ...client, deviceToken: session.device_token }
const { login_token, expires_at } = await reeve.requestSignInCode('ann@example.org', known)
assert.ok(Date.parse(expires_at) > Date.now())
console.log('code?')
const input = createInterface({ input: process.stdin })
const code = await input.question('')
input.close()
await assert.rejects(reeve.signInWithCode(login_token, '00000000', known), { name: 'ReeveError', status: 401, code: 'wrong_code' })
await assert.rejects(reeve.signInWithCode(login_token, code, client), { name: 'ReeveError', status: 401, code: 'code_again' })
session = await reeve.signInWithCode(login_token, code, known)
assert.deepEqual([session.token, session.login_token !== ''], ['', true])
session = await complete(second, known)
assert.deepEqual([session.token !== '', session.device_token], [true, known.deviceToken])
console.log('signed in with a code')
