import { afterAll, beforeEach, expect, test, vi } from 'vitest'
import { del, get, hooks, post, put } from './request'
import { noticeShown } from './saved-notice'

let entry: string | undefined // header of the next responses
let answers: (() => void)[] // let the requests under way go on
let shown: number

vi.stubGlobal('localStorage', { getItem: () => '1' })
vi.stubGlobal('navigator', { onLine: true })
vi.stubGlobal('document', { documentElement: { lang: 'en' } })
vi.stubGlobal('fetch', async (_: string, { method }: { method: string }) => {
  const headers: HeadersInit = entry && method !== 'GET' ? { 'Reeve-Entry': entry } : {}
  await new Promise<void>((go) => answers.push(go))
  return Response.json({ data: {} }, { headers })
})
const before = { ...hooks }
afterAll(() => {
  Object.assign(hooks, before)
  vi.unstubAllGlobals()
})

beforeEach(() => {
  entry = '1-7'
  answers = []
  shown = 0
  hooks.saved = () => shown++
})

const idle = () => new Promise<void>((done) => setTimeout(done))

// settle lets all requests go on, also those that follow them.
async function settle() {
  for (let quiet = 0; quiet < 3; quiet++) {
    await idle()
    if (answers.length) quiet = 0
    for (const go of answers.splice(0)) go()
  }
}

test.each<[string, () => Promise<unknown>]>([
  ['POST', () => post('/system/dict')],
  ['PUT', () => put('/system/dict/1')],
  ['DELETE', () => del('/system/dict/1')],
  ['quiet PUT', () => put('/system/dict/1', undefined, { quiet: true })],
])('a %s says that it is saved', async (_, change) => {
  void change()
  await settle()
  expect(shown).toBe(1)
})

test('saving a form says that it is saved also if nothing has changed', async () => {
  entry = undefined
  void put('/system/dict/1')
  await settle()
  expect(shown).toBe(1)
})

test('what changes nothing says nothing', async () => {
  void get('/system/dict')
  await settle()
  entry = undefined
  void put('/admin/list', undefined, { query: { dry_run: 1 } })
  await settle()
  void post('/system/setting/flag-preview')
  await settle()
  entry = '1-8'
  void post('/admin/reauth')
  await settle()
  expect(shown).toBe(0)
})

test('an action that says something itself, after it has loaded the list again, is not told twice', async () => {
  void put('/system/dict/1')
    .then(() => get('/system/dict'))
    .then(noticeShown)
  await settle()
  expect(shown).toBe(0)
})

test('an action of several requests says it once, and not if one of them fails', async () => {
  void put('/system/dict/1').then(() => put('/system/dict/2'))
  await settle()
  expect(shown).toBe(1)
  hooks.failed = () => {}
  put('/system/dict/1')
    .then(() => {
      vi.stubGlobal('fetch', async () => Response.json({ errorCode: 'stale' }, { status: 409 }))
      return put('/system/dict/2')
    })
    .catch(() => {})
  await settle()
  expect(shown).toBe(1)
})
