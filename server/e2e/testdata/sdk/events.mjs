// Follows events of a scripted server, and then of SERVER until standard input ends.
import { strict as assert } from 'node:assert'
import { Reeve } from '@reeve/client'

const { SERVER: url, SCRIPTED, KEY: key } = process.env
const show = (word, { id, type, data }) => console.log(word, ...(word === 'scripted' ? [id] : []), type, data.name ?? '')

try {
  for await (const event of new Reeve({ url: SCRIPTED, key: 'k' }).events(['dict.*'], { after: 'g-0' })) show('scripted', event)
} catch ({ status, code, message }) {
  console.log('refused', status, code, message)
}

const reeve = new Reeve({ url, key })
for (const [client, types, after, status, message] of [
  [reeve.as('rv_k_x'), [], '', 401, /token/],
  [reeve.as(''), [], '', 401, /token/],
  [reeve, ['dict.*', 'role.created'], '', 403, /role.created can come: permission admin.role.query is required/],
  [reeve, ['role.*'], '', 403, /admin.role.query/],
  [reeve, ['audit.head'], '', 403, /only webhooks/],
  [reeve, ['roles.*'], '', 422, /roles/],
  [reeve, ['role'], '', 400, /types/],
  [reeve, ['dict.*'], 'othergener-1', 410, /restore/],
]) {
  await assert.rejects(client.events(types, { after }).next(), { name: 'ReeveError', status, message })
}
const responding = (status, body, headers) => new Reeve({ url, fetch: async () => new Response(body, { status, headers }) })
const events = { 'Content-Type': 'text/event-stream' }
for (const client of [responding(404, 'not found'), responding(200, '<html>'), responding(302, ''), responding(200, 'event: open\ndata: {\n\n', events)])
  await assert.rejects(client.events().next(), { code: 'bad_response' })
await assert.rejects(responding(200, `data: ${'x'.repeat(17 << 20)}`, events).events().next(), { code: 'too_large' })

// The pause is as long as the server says.
let times = []
const busy = new Reeve({
  url,
  fetch: async () => {
    times.push(Date.now())
    return times.length === 1 ? new Response('', { status: 429, headers: { 'Retry-After': '3' } }) : new Response('event: open\ndata: {}\n\n', { headers: events })
  },
})
for await (const _ of busy.events()) break
assert.ok(times[1] - times[0] >= 2990, times)

const stop = new AbortController()
process.stdin.resume().on('end', () => stop.abort())
let position
for await (const event of reeve.events(['dict.*', 'access.changed'], { signal: stop.signal })) {
  if (event.type === 'open') assert.deepEqual(event.data.types, ['dict.changed', 'access.changed'])
  else assert.match(event.timestamp, /^20\d\d-/)
  show('event', event)
  if (event.data.name === 'Second') break
  position = event.id
}
for await (const event of reeve.events(['dict.*'], { after: position, signal: stop.signal })) show('again', event) // until the abort
