// The TypeScript client behind a load balancer that sends each request to another node. ECHO answers with the
// position that it got.
import { strict as assert } from 'node:assert'
import { Reeve } from '@reeve/client'

const { SERVER: url, KEY: key, ECHO: echo } = process.env
const reeve = new Reeve({ url, key, retries: 0 })
for (let i = 0; i < 20; i++) {
  const { id } = await reeve.call('POST', '/system/dict', { body: { code: `c${i}`, name: `${i}` } })
  assert.equal((await reeve.as(key).call('GET', `/system/dict/${id}`)).name, `${i}`)
}

const other = new Reeve({ url: echo })
for (const { Answered: at, Sent: want } of JSON.parse(process.env.POSITIONS)) {
  await other.call('GET', '/x', { query: { at } })
  const { sent } = await other.as('token').call('GET', '/x')
  assert.equal(sent, want, `after ${at}`)
}
