// What the OpenAPI document does not know must not compile: the type checker reports a line here that is no error.
import { Reeve, ReeveError, type User, type UserPage, verifyWebhook } from '@reeve/client'
import { type Caller, protect as protectExpress } from '@reeve/client/express'
import { protect as protectHono } from '@reeve/client/hono'

const reeve = new Reeve({ url: 'https://reeve.example.org', key: 'key' as string | undefined })

export async function wrong(id: number) {
  // @ts-expect-error
  await reeve.call('GET', '/admin/lists')
  // @ts-expect-error
  await reeve.call('GET', `/admin/list/${id}/statuses`)
  // @ts-expect-error
  await reeve.call('DELETE', '/admin/login')
  // @ts-expect-error
  await reeve.call('POST', '/admin/role')
  // @ts-expect-error
  await reeve.call('POST', '/admin/role', { body: {} })
  // @ts-expect-error
  await reeve.call('PUT', `/admin/list/${id}/status`, { body: { status: 2 } })
  // @ts-expect-error
  await reeve.call('POST', '/admin/role', { body: { name: 'Support', data_scope: 'everything' } })
  // @ts-expect-error
  const page: UserPage = await reeve.call('GET', '/admin/role')
  // @ts-expect-error
  const flag: string = await reeve.flag('shop.checkout', {}, false)
  // @ts-expect-error
  reeve.signIn('ada', 'password', 'other')
  // @ts-expect-error
  reeve.signIn('ada', 'password', 'app', { addres: '192.0.2.7' })
  // @ts-expect-error
  protectExpress(reeve, 1)
  return [page, flag]
}

export async function right(id: number): Promise<[UserPage, User]> {
  await reeve.call('PUT', `/admin/list/${id}/status`, { body: { status: true } })
  await reeve.call('PUT', '/admin/list/7/status', { body: { status: 0 } })
  await reeve.call('POST', '/admin/role', { body: { name: 'Support', data_scope: 'self' }, idempotencyKey: 'key' })
  await reeve.call('POST', '/admin/logout', { signal: AbortSignal.timeout(1000) })
  const login = await reeve.signIn('ada', 'password', 'app', { address: '192.0.2.7', userAgent: undefined })
  if (login.methods.includes('otp')) await reeve.completeSignIn(login.login_token, '123456', 'app')
  const config = await reeve.follow<{ shop: { title: string } }>({ groups: ['shop'] })
  const title: string = config.settings.shop.title
  let flag = await reeve.flag('shop.checkout', { targetingKey: 'user:7' }, false)
  flag = true // its type is boolean, not false
  const details: { value: number; errorCode?: string } = await reeve.flagDetails('shop.limit', {}, 1)
  for await (const { type, data } of reeve.events(['user.*'], { signal: AbortSignal.timeout(1000) })) console.log(type, data.name, details.value, flag)
  const any = await reeve.follow()
  const other: string = any.settings.shop?.title // of any type
  const event = await verifyWebhook('whsec_', new Headers(), title + other)
  if (event.data instanceof ReeveError) throw event.data
  return [await reeve.call('GET', '/admin/list', { query: { pageSize: 20, ids: [1, 2] } }), await reeve.call('GET', `/admin/list/${id}`)]
}

export function caller(request: Express.Request): Caller | undefined {
  protectHono(reeve, 'shop.order.query')
  return request.caller
}
