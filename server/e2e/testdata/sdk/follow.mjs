// Follows a setting, prints its values, and ends by itself when standard input ends.
import { strict as assert } from 'node:assert'
import { Reeve } from '@reeve/client'

const reeve = new Reeve({ url: process.env.SERVER, key: process.env.KEY })
await assert.rejects(reeve.follow({ groups: ['missing'] }), { status: 403 })
const config = await reeve.follow({ groups: ['shop'], dicts: ['*'] })
assert.deepEqual(config.withheld, [])
config.onChange(() => {
  throw new Error('a listener fails')
})
config.onChange(() => {
  process.exitCode = 1 // it is not called
})()
config.onChange(() => console.log(`changed ${config.settings.shop.title}`))
config.onError((error) => console.log(`failed ${error.code ?? error.message}`))
console.log(`first ${config.settings.shop.title}`)
process.stdin.resume().on('end', () => config.close())
