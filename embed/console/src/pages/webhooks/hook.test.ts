import { expect, test } from 'vitest'
import { entryOf, host, parts } from './hook'

test('the number of an entry is the second part of the ID of an event', () => {
  const of = (event: string, kind = 'event', type = 'role.updated') => entryOf({ event, kind, type })
  expect(of('k3v-12')).toBe(12)
  expect(of('k3v-12-4', 'replay')).toBe(12)
  expect(of('head-k3v-12', 'event', 'audit.head')).toBeUndefined()
  expect(of('test-01hz-9', 'test', 'webhook.test')).toBeUndefined()
  expect(of('', 'event', 'webhook.lost')).toBeUndefined()
})

test('a URL is shown with its host apart', () => {
  expect(parts('https://hooks.example:8443/in?token=1')).toEqual({ before: 'https://', host: 'hooks.example:8443', after: '/in?token=1' })
  expect(host({ url: 'http://[2001:db8::7]/' })).toBe('[2001:db8::7]')
  expect(parts('https://hooks.example/').after).toBe('')
})
