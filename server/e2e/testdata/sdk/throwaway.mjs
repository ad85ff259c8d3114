import assert from 'node:assert/strict'
import { Reeve } from '@reeve/client'
import { start } from '@reeve/client/test'

const server = await start({ setup: ['shop.toml'] })
const shop = new Reeve({ url: server.url, key: server.keys.shop })
const [ann, bob] = [await server.user('admin', 'Support'), await server.user('app')]
assert.equal(await shop.can(ann.token, 'shop.order.refund'), true)
assert.equal(await shop.can(bob.token, 'shop.order.refund'), false)
assert.equal((await server.owner.call('GET', '/admin/info')).info.username, 'admin')
assert.match(server.webhooks.orders, /^whsec_/)
await assert.rejects(server.user('admin', 'Suport'), /Suport/)
await server.stop()
await assert.rejects(fetch(server.url))

await assert.rejects(start({ setup: ['bad.toml'] }), /bad\.toml: line 1/)
await assert.rejects(start({ program: './no-such-program' }), /variable REEVE/)
