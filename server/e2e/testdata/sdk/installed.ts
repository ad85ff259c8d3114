// With the written types, what the installation does not have must not compile.
import { Reeve } from '@reeve/client'
import { protect, protectApp } from '@reeve/client/express'

const reeve = new Reeve({ url: 'https://reeve.example.org' })

export async function wrong(token: string) {
  // @ts-expect-error
  await reeve.can(token, 'shop.order.refnd')
  // @ts-expect-error
  await reeve.check(token, 'shop.order.refund', 'shop.ordr')
  // @ts-expect-error
  protect(reeve, 'shop.order.refnd')
  // @ts-expect-error
  await reeve.flag('payment.chekout', {}, false)
  // @ts-expect-error
  await reeve.flag('payment.checkout', {}, 'no')
  const { settings } = await reeve.follow({ groups: ['payment'] })
  // @ts-expect-error
  settings.paymnt
  // @ts-expect-error
  settings.payment.vat_rat
  // @ts-expect-error
  settings.payment.vat_rate.length
  // @ts-expect-error
  const mode: 'other' = settings.payment.mode
  return mode
}

export async function right(token: string) {
  await reeve.can(token, 'shop.order.refund')
  await reeve.can(token, 'app.orders.read')
  await reeve.check(token, 'shop.order.refund', 'admin.list.query')
  protect(reeve, 'shop.order.refund')
  protectApp(reeve)
  const { settings } = await reeve.follow({ groups: ['payment'] })
  const rate: number = settings.payment.vat_rate ?? 0
  const mode: '' | 'test' | 'live' = settings.payment.mode
  const tags: ('a' | 'b')[] = settings.payment.tags
  const title: string = settings.site.title
  const live: boolean = settings.payment.live
  const checkout: boolean = await reeve.flag('payment.checkout', { targetingKey: 'user:7' }, false)
  return [rate, mode, tags, title, live, checkout]
}
