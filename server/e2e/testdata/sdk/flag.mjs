// Flags of the group shop, which KEY may read and OTHER may not. With standard input, the test stops the server and starts it again.
import { strict as assert } from 'node:assert'
import { createInterface } from 'node:readline'
import { Reeve } from '@reeve/client'

const { SERVER, PROXY, KEY: key, OTHER: other } = process.env
const url = `${PROXY}/pass.flags`
const reeve = new Reeve({ url, key })
const swiss = { country: 'CH' }
const seen = async () => (await fetch(`${PROXY}/seen/pass.flags`)).json()

const both = await Promise.all([reeve.flag('shop.checkout', swiss, false), reeve.flag('shop.checkout', swiss, false), reeve.flag('shop.limit', swiss, 1)])
assert.deepEqual(both, [true, true, 10])
assert.equal(await reeve.flag('shop.checkout', {}, true), false)
assert.equal((await seen()).length, 2)

const unreached = new Reeve({ url: 'http://127.0.0.1:9', key })
const loop = {}
loop.loop = loop
for (const [client, name, context, want, message] of [
  [reeve, 'shop.checkout', swiss, { value: true, variant: 'on', reason: 'TARGETING_MATCH' }],
  [reeve, 'shop.limit', {}, { value: 10, variant: 'low', reason: 'STATIC' }],
  [reeve, 'shop.split', {}, { value: undefined, reason: 'ERROR', errorCode: 'TARGETING_KEY_MISSING' }, /targetingKey/],
  [reeve, 'shop.nothing', {}, { value: undefined, reason: 'ERROR', errorCode: 'FLAG_NOT_FOUND' }, /does not exist/],
  [new Reeve({ url, key: other }), 'shop.limit', {}, { value: undefined, reason: 'ERROR', errorCode: 'FLAG_NOT_FOUND' }, /system\.setting\.read\.shop/],
  [reeve.as(other), 'shop.limit', {}, { value: undefined, reason: 'ERROR', errorCode: 'FLAG_NOT_FOUND' }, /system\.setting\.read\.shop/],
  [reeve.as('rv_k_x'), 'shop.limit', {}, { value: undefined, reason: 'ERROR', errorCode: 'GENERAL' }, /token/],
  [reeve, 'shop.limit', { targetingKey: 'x'.repeat(300) }, { value: undefined, reason: 'ERROR', errorCode: 'INVALID_CONTEXT' }, /targetingKey/],
  [reeve, 'shop.limit', loop, { value: undefined, reason: 'ERROR', errorCode: 'INVALID_CONTEXT' }, /circular/],
  [unreached, 'shop.limit', {}, { value: undefined, reason: 'ERROR', errorCode: 'GENERAL' }, /no response/],
]) {
  const { errorMessage, ...got } = await client.flagDetails(name, context, undefined)
  assert.deepEqual(got, want)
  if (message) assert.match(errorMessage, message)
  else assert.equal(errorMessage, undefined)
}
const { value, errorCode } = await reeve.flagDetails('shop.limit', {}, 'text')
assert.deepEqual([value, errorCode], ['text', 'TYPE_MISMATCH'])

// Not more than 1,000 contexts are kept, and no request follows a failure at once.
let asked = 0
let status = 200
const fake = new Reeve({
  url,
  key,
  flagAge: 3_600_000,
  fetch: async () => {
    asked++
    return new Response('{"flags":[{"key":"a.b","value":"yes","reason":"STATIC"}]}', { status })
  },
})
const evaluate = (user) => fake.flag('a.b', { targetingKey: `${user}` }, 'no')
for (let user = 0; user <= 1000; user++) {
  assert.equal(await evaluate(user), 'yes')
  await evaluate(1) // used all the time
}
await evaluate(1)
assert.equal(asked, 1001)
await evaluate(0)
assert.equal(asked, 1002)
status = 503
for (let i = 0; i < 5; i++) assert.equal(await evaluate(-1), 'no')
assert.equal(asked, 1003)

// The last value stays while the server is stopped.
const eager = new Reeve({ url: SERVER, key, flagAge: 0 })
for await (const step of createInterface({ input: process.stdin })) {
  const { errorMessage, ...got } = await eager.flagDetails('shop.limit', {}, 1)
  const elsewhere = await eager.flagDetails('shop.limit', swiss, 1)
  console.log(step, JSON.stringify(got), elsewhere.reason)
}
