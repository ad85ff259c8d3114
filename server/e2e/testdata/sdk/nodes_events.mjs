// A program reads what an event tells of, at another node than that of the stream.
import { Reeve } from '@reeve/client'

const { SERVER: url, KEY: key } = process.env
const writer = new Reeve({ url, key })
for (let round = 0; round < 3; round++) {
  // Each stream is at another node.
  const watcher = new Reeve({ url, key })
  let created = 0
  for await (const event of watcher.events(['dict.*'])) {
    if (event.type !== 'open') {
      await watcher.call('GET', `/system/dict/${event.data.record}`)
      if (++created === 9) break
    }
    await writer.call('POST', '/system/dict', { body: { code: `script${round}_${created}`, name: 'New' } })
  }
}
