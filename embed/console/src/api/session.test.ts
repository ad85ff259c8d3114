import { afterAll, beforeEach, expect, test, vi } from 'vitest'
import { get } from './request'
import { askBy, begin, endedBy, isPending, mark } from './session'
import { finishSignOut, signOut } from './sign-out'

vi.mock('../i18n', () => ({ t: (key: string) => key }))

let stored: Map<string, string>
let sent: string[]
let left: string[]
let covers = 0
let responds: () => Promise<Response>

vi.stubGlobal('localStorage', {
  getItem: (key: string) => stored.get(key) ?? null,
  setItem: (key: string, value: string) => stored.set(key, value),
  removeItem: (key: string) => stored.delete(key),
})
vi.stubGlobal('sessionStorage', {
  getItem: (key: string) => stored.get(key) ?? null,
  setItem: (key: string, value: string) => stored.set(key, value),
  removeItem: (key: string) => stored.delete(key),
})
const element = { addEventListener() {}, append() {}, setAttribute() {}, showModal: () => covers++ }
vi.stubGlobal('document', { documentElement: { lang: 'en' }, createElement: () => ({ ...element }), body: element })
vi.stubGlobal('location', { pathname: '/console/account', search: '?tab=picture', replace: (to: string) => left.push(to) })
vi.stubGlobal('fetch', (path: string, { headers }: { headers: Record<string, string> }) => {
  expect(Object.keys(headers)).not.toContain('Authorization')
  sent.push(path)
  return responds()
})
afterAll(() => {
  vi.unstubAllGlobals()
})

const elsewhere = async () => Response.json({ errorCode: 'session_network', msg: 'sign in' }, { status: 401 })
const rejected = async () => Response.json({ errorCode: 'unauthenticated', msg: 'sign in' }, { status: 401 })
const fine = async () => Response.json({ data: {} })
const unreachable = async () => {
  throw new TypeError('Failed to fetch')
}

beforeEach(() => {
  stored = new Map()
  sent = []
  left = []
  covers = 0
  responds = fine
})

test('a rejected session leads to the sign-in page, and back', async () => {
  begin()
  responds = rejected
  await expect(get('/admin/info')).rejects.toMatchObject({ status: 401 })
  expect([mark(), left]).toEqual(['', ['/console/?back=%2Fconsole%2Faccount%3Ftab%3Dpicture']])
})

test('the sign-in page is told why a session was rejected', async () => {
  begin()
  responds = elsewhere
  await expect(get('/admin/info')).rejects.toMatchObject({ status: 401 })
  expect(endedBy()).toBe('session_network')
  begin()
  expect(endedBy()).toBe('')
})

test('a late rejection does not end a session that has begun since', async () => {
  begin()
  responds = async () => {
    stored.set('reeve.signed_in', 'later')
    return rejected()
  }
  await expect(get('/admin/info')).rejects.toMatchObject({ status: 401 })
  expect([mark(), left]).toEqual(['later', []])
})

test('without a session a rejection is an answer like any other', async () => {
  responds = rejected
  await expect(get('/admin/info', {}, { quiet: true })).rejects.toMatchObject({ status: 401 })
  expect(left).toEqual([])
})

test('signing out ends the session at the server', async () => {
  begin()
  await signOut()
  await finishSignOut()
  expect([sent, mark(), isPending(), left]).toEqual([['/admin/logout'], '', false, ['/console/']])
})

test('signing out goes on at the page of the sign-in provider', async () => {
  begin()
  responds = async () => Response.json({ data: { provider_url: 'https://id.example.org/end' } })
  await signOut()
  expect([mark(), left]).toEqual(['', ['https://id.example.org/end']])
})

test('a page that is leaving signs out once, and cannot be used', async () => {
  begin()
  await Promise.all([signOut(), signOut()])
  expect([sent, covers]).toEqual([['/admin/logout'], 1])
})

test('a session of another network is still to be ended', async () => {
  begin()
  responds = elsewhere
  await signOut()
  expect([mark(), isPending()]).toEqual(['', true])
})

test('a session that has ended already is signed out', async () => {
  begin()
  responds = rejected
  await signOut()
  expect([mark(), isPending(), left.at(-1)]).toEqual(['', false, '/console/'])
})

test('without an answer the page leaves, and the session is ended later', async () => {
  begin()
  responds = unreachable
  await signOut()
  expect([mark(), isPending(), left]).toEqual(['', true, ['/console/']])
  await finishSignOut()
  expect(isPending()).toBe(true)
  responds = fine
  await finishSignOut()
  await finishSignOut()
  expect([isPending(), sent.length]).toEqual([false, 3])
})

test('signing in replaces the session that is still to be ended', async () => {
  responds = unreachable
  await signOut()
  begin()
  expect([isPending(), mark() !== '']).toEqual([false, true])
})

test('a page that asks for a sign-in waits for it, and repeats what was rejected', async () => {
  begin()
  let enter = () => {}
  const asked: string[] = []
  askBy((code) => {
    asked.push(code)
    return new Promise((resolve) => {
      enter = resolve
    })
  })
  responds = rejected
  const read = get('/admin/info')
  const other = get('/admin/role')
  await expect.poll(() => asked).toEqual(['unauthenticated'])
  const later = get('/admin/dept')
  expect([mark(), left, stored.has('reeve.signed_in')]).toEqual(['', [], true])
  await expect(get('/admin/login/passkey', {}, { quiet: true })).rejects.toMatchObject({ status: 401 }) // of the sign-in itself
  expect(sent).not.toContain('/admin/dept')
  responds = fine
  begin()
  enter()
  await Promise.all([read, other, later])
  expect(sent.slice(-3).toSorted()).toEqual(['/admin/dept', '/admin/info', '/admin/role'])
})
