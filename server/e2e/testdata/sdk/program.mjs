// A program whose routes the TypeScript client protects, as Express or Hono would run it: FRAMEWORK. Each route
// answers with its caller.
import { createServer } from 'node:http'
import { Readable } from 'node:stream'
import { Reeve, ReeveError } from '@reeve/client'
import * as express from '@reeve/client/express'
import * as hono from '@reeve/client/hono'

const { SERVER: url, KEY: key, OTHER_KEY: otherKey, ORIGIN: origin, FRAMEWORK, SECRET: secret, CUSTOMERS } = process.env
const { callback, protect, protectApp, signOut, webhook } = FRAMEWORK === 'hono' ? hono : express
const reeve = new Reeve({ url, key, origin })

function handleEvent(event) {
  if (event.type === 'fail') throw new ReeveError('gone', { status: 410, code: 'gone' })
  console.log(`event ${event.id} ${event.type} ${event.data.name}`)
}
const routes = {
  '/orders': protect(reeve, 'shop.order.query'),
  '/both': protect(reeve, 'shop.order.query', 'auth.check'),
  '/any': protect(reeve),
  '/my': protectApp(reeve),
  '/tokens': protect(new Reeve({ url, key })),
  '/other-key': protect(new Reeve({ url, key: otherKey }), 'shop.order.query'),
  '/other-origin': protect(new Reeve({ url, key, origin: 'http://127.0.0.1:1' }), 'shop.order.query'),
  '/down': protect(new Reeve({ url: 'http://127.0.0.1:9', key, origin }), 'shop.order.query'),
  ...(secret && { '/hook': webhook(secret, handleEvent) }),
}
if (CUSTOMERS) {
  routes['/orders'] = protectApp(reeve)
  routes['/vip'] = protectApp(reeve, 'app.vip')
  routes['/sign-out'] = signOut(reeve, { to: '/bye' })
  routes['/sign-out-everywhere'] = signOut(reeve, { to: '/bye', everywhere: true })
}
const finish = callback(reeve)
const noRoute = (_request, _response, next) => next()

// What Express does with an error: the status of the error is sent, if it has one.
function runExpress(request, response) {
  const fail = (error) => {
    response.statusCode = error.status >= 400 && error.status < 600 ? error.status : 500
    response.end(`handled: ${error.message}`)
  }
  finish(request, response, (error) => {
    if (error) return fail(error)
    const route = routes[request.url.split('?')[0]] ?? noRoute
    route(request, response, (error) => (error ? fail(error) : response.end(JSON.stringify(request.caller))))
  })
}

async function runHono(request, response) {
  const variables = {}
  const raw = new Request(origin + request.url, {
    method: request.method,
    headers: request.headers,
    ...(request.method === 'POST' && { body: Readable.toWeb(request), duplex: 'half' }),
  })
  const context = { req: { raw }, set: (name, value) => Object.assign(variables, { [name]: value }) }
  let result
  const handler = async () => {
    result = new Response(JSON.stringify(variables.caller))
  }
  try {
    const route = routes[request.url.split('?')[0]] ?? handler
    const early = await finish(context, async () => {
      result = (await route(context, handler)) ?? result
    })
    result = early ?? result
  } catch (error) {
    result = new Response(`handled: ${error.message}`, { status: 500 })
  }
  response.writeHead(result.status, [...result.headers].flat())
  response.end(Buffer.from(await result.arrayBuffer()))
}

createServer(FRAMEWORK === 'hono' ? runHono : runExpress).listen(Number(new URL(origin).port), '127.0.0.1', () => console.log('listening'))
