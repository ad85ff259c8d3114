// Calls of the TypeScript client. PROXY passes requests on to the server; the first part of its path says what
// it does with the first of them.
import { strict as assert } from 'node:assert'
import { Reeve, ReeveError } from '@reeve/client'

const { SERVER: url, PROXY: proxy, KEY: key, PASSWORD: password } = process.env
const reeve = new Reeve({ url, key })
const through = (plan, options) => new Reeve({ url: `${proxy}/${plan}/`, key, ...options })
const seen = async (plan) => (await fetch(`${proxy}/seen/${plan}`)).json()

async function failure(promise) {
  const error = await promise.then(
    () => assert.fail('it has not failed'),
    (error) => error,
  )
  assert.ok(error instanceof ReeveError, error)
  assert.ok(!`${error.stack} ${JSON.stringify(error)}`.includes(key))
  return error
}

// Operations and their errors.
const dict = await reeve.call('POST', '/system/dict', { body: { code: 'colour', name: 'Colours' } })
assert.equal((await reeve.call('GET', `/system/dict/${dict.id}`)).name, 'Colours')
const list = await reeve.call('GET', '/system/dict', { query: { pageSize: 1, keyword: undefined, sorter: null } })
assert.deepEqual([list.pageSize, list.data.length], [1, 1])
let e = await failure(reeve.call('POST', '/system/dict', { body: { code: 'Not a code', name: '' } }))
assert.deepEqual([e.status, e.code, Object.keys(e.errors).sort()], [422, 'invalid', ['code', 'name']])
assert.ok(e.requestId && e.message && e.retryAfter === undefined)
e = await failure(reeve.call('GET', '/system/dict/999'))
assert.deepEqual([e.status, e.code, e.errors], [404, 'not_found', {}])
assert.equal((await failure(new Reeve({ url }).call('GET', '/system/dict'))).status, 401)
assert.equal((await failure(new Reeve({ url: 'http://127.0.0.1:9', key, retries: 0 }).call('GET', '/health'))).code, 'unreachable')
for (const bad of [{ url: 'reeve' }, { url: 'ftp://reeve' }, { url: 'http://user:secret@reeve' }, {}, { url, key: 'a key' }, { url, origin: `${url}/path` }])
  assert.throws(() => new Reeve(bad), TypeError)

// A response gets lost.
const codes = async () => (await reeve.call('GET', '/system/dict', { query: { pageSize: 100 } })).data.map((one) => one.code)
await through('lose.post').call('POST', '/system/dict', { body: { code: 'lost', name: 'Lost' } })
let all = await seen('lose.post')
assert.deepEqual([all.length, all[0].key, all[0].key !== ''], [2, all[1].key, true])
assert.equal((await codes()).filter((code) => code === 'lost').length, 1)
await through('lose.get').call('GET', '/system/dict')
assert.equal((await seen('lose.get')).length, 2)
e = await failure(through('lose.put').call('PUT', `/system/dict/${dict.id}`, { body: { name: 'Changed' } }))
assert.deepEqual([e.status, e.code, (await seen('lose.put')).length], [0, 'unreachable', 1])
assert.equal((await reeve.call('GET', `/system/dict/${dict.id}`)).name, 'Changed')
e = await failure(through('lose.sign-in').signIn('admin', password))
assert.deepEqual([e.status, (await seen('lose.sign-in')).length], [0, 1])
const given = { body: { code: 'given', name: 'Given' }, idempotencyKey: 'a-key-of-mine' }
assert.equal((await reeve.call('POST', '/system/dict', given)).id, (await reeve.call('POST', '/system/dict', given)).id)

// The server, or what is before it, asks to come back.
await through('busy.put').call('PUT', `/system/dict/${dict.id}`, { body: { name: 'Later' } })
assert.equal((await seen('busy.put')).length, 2)
for (const [plan, code] of [['429-60.get', 'bad_response'], ['503-60.post', 'bad_response']]) {
  const client = through(plan)
  e = await failure(plan.endsWith('get') ? client.call('GET', '/system/dict') : client.call('POST', '/system/dict', { body: { code: 'never', name: 'Never' } }))
  assert.deepEqual([e.status, e.retryAfter, e.code, (await seen(plan)).length], [Number(plan.slice(0, 3)), 60, code, 1])
}
e = await failure(through('unknown.put').call('PUT', `/system/dict/${dict.id}`, { body: { name: 'Perhaps' } }))
assert.deepEqual([e.status, e.code, (await seen('unknown.put')).length], [503, 'write_outcome_unknown', 1])
e = await failure(through('502-0.delete').call('DELETE', `/system/dict/${dict.id}`))
assert.deepEqual([e.status, (await seen('502-0.delete')).length], [502, 1])
await through('502-0.get').call('GET', '/system/dict')
assert.equal((await seen('502-0.get')).length, 2)

// Redirects are not followed, and waiting ends.
e = await failure(through('302-0.get').call('GET', '/system/dict'))
assert.deepEqual([e.status, (await seen('302-0.get')).length, (await seen('elsewhere')).length], [302, 1, 0])
e = await failure(through('hang.timeout', { timeout: 100, retries: 0 }).call('GET', '/system/dict'))
assert.deepEqual([e.status, e.code], [0, 'timeout'])
const stop = new AbortController()
const cancelled = assert.rejects(through('hang.cancel').call('GET', '/system/dict', { signal: stop.signal }), { name: 'AbortError' })
while ((await seen('hang.cancel')).length === 0);
stop.abort()
await cancelled
assert.equal((await seen('hang.cancel')).length, 1)
const pausing = new AbortController()
const paused = assert.rejects(through('503-9.get').call('GET', '/system/dict', { signal: pausing.signal }), { name: 'AbortError' })
while ((await seen('503-9.get')).length === 0);
pausing.abort()
await paused
assert.equal((await seen('503-9.get')).length, 1)

// Signing in and out, and what a token may do.
const admin = await reeve.signIn('admin', password)
assert.equal(admin.must_change_password, 0)
assert.equal((await reeve.as(admin.token).call('GET', '/admin/info')).info.username, 'admin')
assert.equal(await reeve.can(admin.token, 'admin.list.query'), true)
assert.equal(await reeve.can(key, 'admin.list.query'), false)
const check = await reeve.check(key, 'auth.check', 'admin.list.query')
assert.deepEqual([check.active, check.user.key_name, check.allowed], [true, 'program', { 'auth.check': true, 'admin.list.query': false }])
await through('lose.sign-out').as(admin.token).signOut()
assert.deepEqual([(await reeve.check(admin.token, 'auth.check')).active, await reeve.can(admin.token, 'constructor')], [false, false])
const app = await reeve.signIn('zoe', password, 'app')
assert.equal((await reeve.as(app.token).call('GET', '/api/user')).username, 'zoe')
await reeve.as(app.token).signOut('app')
await through('pass.address').signIn('zoe', password, 'app', { address: '203.0.113.7' }) // since 0.16.0
assert.equal((await failure(reeve.as(app.token).call('GET', '/api/user'))).status, 401)
assert.equal((await failure(reeve.signIn('zoe', 'wrong wrong', 'app'))).status, 401)
