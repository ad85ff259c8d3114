// What the TypeScript client does with other servers in the place of Reeve. CASES are their answers to checks.
import { strict as assert } from 'node:assert'
import { createServer } from 'node:http'
import { Reeve, ReeveError } from '@reeve/client'
import { protect, webhook } from '@reeve/client/express'
import { authorize, finishSignIn } from '@reeve/client/gate'
import { protect as protectHono } from '@reeve/client/hono'

const key = 'rv_k_secret'
const origin = 'http://127.0.0.1:3000'
const question = (headers = {}, path = '/orders') => ({ method: 'GET', path, header: (name) => headers[name] })
const serve = async (handler) => {
  const server = createServer(handler)
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve))
  server.unref()
  return `http://127.0.0.1:${server.address().port}`
}
let written = ''
console.warn = (...text) => {
  written += text.join(' ')
}

for (const { name, url, bearer, want, says } of JSON.parse(process.env.CASES)) {
  const decide = authorize(new Reeve({ url, key, origin, retries: 0 }), 'admin', ['shop.order'])
  const { caller, refusal } = await decide(question(bearer && { authorization: 'Bearer token-of-a-user' })).catch((error) => {
    assert.ok(error.constructor === Error && !error.stack.includes(key) && !error.stack.includes('token-of'), error)
    return { refusal: { status: 500, body: '', headers: [] } }
  })
  const text = caller ? `${caller.id} "${caller.username}" ${caller.scope.all} [${caller.scope.dept_ids.join(' ')}]` : refusal.body
  assert.equal(refusal?.status ?? 200, want, name)
  assert.ok(text.includes(says) && !text.includes('127.0.0.1') && !refusal?.headers.some(([name]) => name === 'Location'), `${name}: ${text}`)
}

// A code is not written to the log, even if it could not be used.
const down = await serve((_request, response) => response.writeHead(502).end('<h1>Bad Gateway</h1>'))
written = ''
await new Promise((resolve) => setTimeout(resolve, 0))
const unused = new Reeve({ url: down, key, origin, retries: 0 })
const late = Date.now
Date.now = () => late() + 60_000 // warnings are written again
assert.equal((await finishSignIn(unused, question({}, '/.reeve/callback?code_token=rv_c_secret&to=/'))).status, 503)
Date.now = late
assert.match(written, /does not answer like Reeve/)
assert.doesNotMatch(written, /rv_c_secret/)
await assert.rejects(unused.call('GET', '/files/link', { query: { token: 'rv_l_secret' } }), (e) => e instanceof ReeveError && !e.message.includes('rv_l_secret'))

// The credential goes to Reeve only.
for (const path of ['@127.0.0.1:9/', '80/admin/info', '.example/', '']) await assert.rejects(async () => unused.call('GET', path), /must begin with/)

// A proxy that loses its connection to the server may answer 503; numbers of attempts end.
for (const [body, after, retries, want] of [
  ['upstream connect error or disconnect/reset before headers', '', 1, 1],
  ['', '1', 1, 1],
  ['{"success":false,"msg":"busy","errorCode":"busy"}', '', 1, 2],
  ['{"success":false,"msg":"busy","errorCode":"write_outcome_unknown"}', '1', 1, 1],
  ['{"success":false,"msg":"busy","errorCode":"busy"}', '', Number.NaN, 1],
]) {
  let asked = 0
  const url = await serve((_request, response) => {
    asked++
    response.writeHead(503, { 'Retry-After': after }).end(body)
  })
  await assert.rejects(new Reeve({ url, key, retries }).call('DELETE', '/admin/list'), { status: 503 })
  assert.equal(asked, want, body)
}

// A page of another origin opens a WebSocket with GET, and the browser sends the cookies of the site.
const decide = authorize(unused, 'admin', [])
const socket = await decide(question({ upgrade: 'websocket', origin: 'https://evil.example' }))
assert.equal(socket.refusal.status, 403)

// Headers that the program has set before are not doubled, and its cookies are kept.
const signIn = await serve((_request, response) => response.writeHead(302, { Location: `${origin}/`, 'Set-Cookie': ['a=b', 'c=d'], 'Content-Type': 'text/html' }).end())
const shop = await serve((request, response) => {
  response.setHeader('Content-Type', 'application/json')
  response.setHeader('Set-Cookie', 'session=mine')
  protect(new Reeve({ url: signIn, origin }))(request, response, () => assert.fail('let through'))
})
const { headers, status } = await fetch(shop, { redirect: 'manual' })
assert.deepEqual([status, headers.get('content-type'), headers.getSetCookie()], [302, 'text/html', ['session=mine', 'a=b', 'c=d']])

// Requests that end early, or whose body was read before, end nothing else.
const secret = `whsec_${Buffer.alloc(32).toString('base64')}`
const errors = []
let begun
const hook = await serve((request, response) => {
  begun?.()
  const receive = () => webhook(secret, () => {})(request, response, (error) => errors.push(error) && response.writeHead(500).end())
  request.url === '/read' ? request.resume().on('end', receive) : receive()
})
const signed = { 'webhook-id': 'a', 'webhook-timestamp': String(Math.floor(Date.now() / 1000)), 'webhook-signature': 'v1,a' }
assert.equal((await fetch(`${hook}/read`, { method: 'POST', body: '{}', headers: signed, signal: AbortSignal.timeout(5000) })).status, 401)
const arrived = new Promise((resolve) => {
  begun = resolve
})
const cut = new AbortController()
const endless = new ReadableStream({ pull: (to) => new Promise((resolve) => setTimeout(resolve, 20)).then(() => to.enqueue(new Uint8Array(10))) })
const aborted = fetch(hook, { method: 'POST', body: endless, duplex: 'half', headers: signed, signal: cut.signal }).catch(() => {})
await arrived
cut.abort()
await aborted
while (errors.length === 0) await new Promise((resolve) => setTimeout(resolve, 5))

// Two credentials are none.
const asked = []
const reeve = new Reeve({
  url: await serve(async (request, response) => {
    asked.push(JSON.parse(Buffer.concat(await request.toArray())).token)
    response.end('{"success":true,"data":{"active":false,"user":null,"allowed":{},"data_scope":null}}')
  }),
  key,
})
const two = new Request('http://127.0.0.1/', { headers: [['Authorization', 'Bearer one'], ['Authorization', 'Bearer two']] })
const refused = await protectHono(reeve)({ req: { raw: two }, set: () => assert.fail('let through') }, () => assert.fail('let through'))
assert.deepEqual([refused.status, asked], [401, ['one, Bearer two']])
process.exit()
