// Which texts are accepted as keys of permissions; KEYS is an array, and the result one as well.
import { Reeve } from '@reeve/client'
import { protect as protectExpress } from '@reeve/client/express'
import { protect as protectHono } from '@reeve/client/hono'

const reeve = new Reeve({ url: 'http://127.0.0.1' })
const accepts = (protect, key) => {
  try {
    protect(reeve, key)
    return true
  } catch (error) {
    if (error instanceof TypeError) return false
    throw error
  }
}
console.log(JSON.stringify(JSON.parse(process.env.KEYS).filter((key) => accepts(protectExpress, key) && accepts(protectHono, key))))
