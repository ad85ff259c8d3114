// Protected routes, configuration, events and flags of the TypeScript client.
import { strict as assert } from 'node:assert'
import { createServer } from 'node:http'
import { Reeve } from '@reeve/client'
import * as express from '@reeve/client/express'
import * as hono from '@reeve/client/hono'

const { SERVER: url, KEY: key, PASSWORD: password } = process.env
const reeve = new Reeve({ url, key })
const { token } = await reeve.signIn('admin', password)

const protectedRoute = express.protect(reeve, 'admin.list.query')
const server = createServer((request, response) =>
  protectedRoute(request, response, (error) => {
    response.statusCode = error ? 500 : 200
    response.end(request.caller?.username)
  }),
)
await new Promise((listening) => server.listen(0, '127.0.0.1', listening))
const middleware = hono.protect(reeve, 'admin.list.query')
const withHono = async (headers) => {
  const set = {}
  const raw = new Request('http://shop.example/orders', { headers })
  const early = await middleware({ req: { raw }, set: (name, value) => Object.assign(set, { [name]: value }) }, async () => {})
  return [early?.status ?? 200, set.caller?.username ?? '']
}
for (const [bearer, status, name] of [
  [token, 200, 'admin'],
  [key, 403, ''],
  ['', 401, ''],
]) {
  const headers = bearer ? { Authorization: `Bearer ${bearer}` } : {}
  const response = await fetch(`http://127.0.0.1:${server.address().port}/`, { headers })
  assert.deepEqual([response.status, status === 200 ? await response.text() : ''], [status, name])
  assert.deepEqual(await withHono(headers), [status, name])
}
server.close()
server.closeAllConnections()

const firstEvent = async (events, create) => {
  for await (const { type, data } of events) {
    if (type === 'open') await create()
    else return `${type} ${data.name}`
  }
}
const create = () => reeve.call('POST', '/system/dict', { body: { code: 'streamed', name: 'Streamed' } })
assert.equal(await firstEvent(reeve.events(['dict.*']), create), 'dict.changed Streamed') // since 0.16.0
assert.equal(await reeve.flag('shop.new', {}, false), true) // since 0.16.0
