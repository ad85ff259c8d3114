// Signing in at a server that has only the second step.
import { strict as assert } from 'node:assert'
import { Reeve } from '@reeve/client'

const reeve = new Reeve({ url: process.env.SERVER, key: 'rv_k_x' })
const client = { address: '203.0.113.7', userAgent: 'Mozilla/5.0 (X11; Linux x86_64) Chrome/140.0' }
assert.equal((await reeve.completeSignIn('x', '123456', 'app', client)).token, 'of the old server')
await assert.rejects(reeve.requestSignInCode('ann', client), { name: 'ReeveError', status: 404, code: 'not_found', message: /too old.*\/api\/login\/email/ })
