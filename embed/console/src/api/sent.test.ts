import { afterAll, expect, test, vi } from 'vitest'
import { hidden } from './hide'
import { record, recorded } from './sent'

const place = { pathname: '/console/admin/list' }
vi.stubGlobal('location', place)
afterAll(() => {
  vi.unstubAllGlobals()
})

test('a page has its own last requests, without polls and the frame', async () => {
  record('GET', '/admin/info', '/admin/info')
  record('POST', '/admin/login', '/admin/login', { username: 'ann', password: 'hunter2' })
  for (let since = 0; since < 50; since++) record('GET', '/admin/list', `/admin/list?pageSize=20&current=${since}`)
  record('GET', '/admin/list', '/admin/list?status=1')
  record('PUT', '/admin/list/7', '/admin/list/7', { nickname: 'Ann' })
  record('PUT', '/admin/list/7', '/admin/list/7', { nickname: 'Bea' })
  await vi.waitFor(() => expect(recorded()[0]?.body).toBeDefined())
  expect(recorded()).toEqual([
    { method: 'PUT', address: '/admin/list/7', body: { nickname: 'Bea' } },
    { method: 'PUT', address: '/admin/list/7', body: { nickname: 'Ann' } },
    { method: 'GET', address: '/admin/list?status=1' },
    { method: 'GET', address: '/admin/list?pageSize=20&current=49' },
  ])
  for (let n = 0; n < 50; n++) record('DELETE', '/admin/list', `/admin/list?id=${n}`)
  expect(recorded()).toHaveLength(20)
  place.pathname = '/console/admin/role'
  record('GET', '/admin/role', '/admin/role')
  expect(recorded()).toEqual([{ method: 'GET', address: '/admin/role' }])
})

test('nothing secret is kept', async () => {
  const secret = 'hunter2'
  const form = new FormData()
  form.set('group_id', '3')
  form.set('note', secret)
  form.set('file', new Blob([secret]), 'passwords.txt')
  for (const [path, body] of [
    ['/admin/login', { username: secret, password: secret }],
    ['/admin/password', { old_password: secret, new_password: secret }],
    ['/admin/account/totp', { otp: secret }],
    ['/system/setting', { values: { 'mail.password': secret } }],
    ['/system/setup', { files: [{ text: secret }] }],
    ['/system/webhook', { name: 'x', url: `https://h/${secret}`, secret }],
    ['/system/provider', { client_secret: secret, mappings: [{ name: 'x' }] }],
    ['/admin/list', [{ username: 'ann', password: secret, fields: { pet: [secret] } }]],
    ['/file/list', form],
  ] as const)
    record('POST', path, path, body)
  await vi.waitFor(() => expect(recorded()[0]?.form).toBeDefined())
  expect(recorded()).toHaveLength(9) // without the sign-in; one was there before
  expect(JSON.stringify(recorded())).not.toContain(secret)
  expect(recorded()[0]?.form).toEqual({ group_id: '3', note: '…', file: '@FILE' })
})

test('what is no secret stays', () => {
  const body = { name: 'Clerk', key: 'shop.order', password_off: 1, password: '', rule_ids: [1, 2], values: ['a'] }
  expect(hidden('/admin/role', body)).toEqual(body)
})
