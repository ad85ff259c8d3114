import { afterAll, beforeEach, expect, test, vi } from 'vitest'

let stored: Map<string, string>
let sent: [string, string | undefined][]
let left: string[]
let answer: () => Response

vi.stubGlobal('localStorage', { getItem: () => 'token', removeItem: () => {} })
vi.stubGlobal('sessionStorage', {
  getItem: (key: string) => stored.get(key) ?? null,
  setItem: (key: string, value: string) => stored.set(key, value),
  removeItem: (key: string) => stored.delete(key),
})
vi.stubGlobal('navigator', { onLine: true })
vi.stubGlobal('document', { documentElement: { lang: 'en' } })
vi.stubGlobal('location', { pathname: '/console/', search: '', assign: (to: string) => left.push(to), replace: (to: string) => left.push(to) })
vi.stubGlobal('fetch', async (path: string, { headers }: { headers: Record<string, string> }) => {
  sent.push([path, headers['X-Act-As']])
  return answer()
})
afterAll(() => {
  vi.unstubAllGlobals()
})

const fine = () => Response.json({ data: {} })

// page is what a page loads that begins now.
async function page() {
  vi.resetModules()
  return { ...(await import('./request')), ...(await import('./acting')), ...(await import('./session')) }
}

beforeEach(() => {
  stored = new Map()
  sent = []
  left = []
  answer = fine
})

test('a page sends as whom it acts, from its beginning to its end', async () => {
  const before = await page()
  await before.get('/admin/info')
  before.beginActing(7)
  await before.get('/admin/info') // it is about to be left
  const after = await page()
  await after.get('/admin/info')
  after.stopActing()
  await after.get('/admin/info')
  expect(sent.map(([, as]) => as)).toEqual([undefined, undefined, '7', '7'])
  expect([left, stored.size]).toEqual([['/console/', '/console/'], 0])
})

test('what ends it, and signing out, is the own', async () => {
  stored.set('reeve.acting', '7')
  const { del, post } = await page()
  await del('/admin/act-as')
  await post('/admin/logout')
  await post('/system/dict', { name: 'N' } as never)
  expect(sent).toEqual([
    ['/admin/act-as', undefined],
    ['/admin/logout', undefined],
    ['/system/dict', '7'],
  ])
})

test('when the server has ended it, the page is left, and the next one says so once', async () => {
  stored.set('reeve.acting', '7')
  const { get, hooks, takeEnded } = await page()
  answer = () => Response.json({ errorCode: 'acting_ended', msg: 'over', showType: 2 }, { status: 403 })
  const shown: number[] = []
  hooks.failed = ({ showType }) => void shown.push(showType)
  await expect(get('/admin/list')).rejects.toMatchObject({ code: 'acting_ended' })
  expect([left, shown, stored.has('reeve.acting')]).toEqual([['/console/'], [99], false])
  expect([takeEnded(), takeEnded()]).toEqual([true, false])
})

test('it ends with the session', async () => {
  stored.set('reeve.acting', '7')
  const { end } = await page()
  end(false)
  expect(stored.size).toBe(0)
})
