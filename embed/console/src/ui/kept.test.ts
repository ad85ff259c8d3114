import { beforeEach, expect, test, vi } from 'vitest'

let stored: Record<string, string>
let full = false
vi.stubGlobal(
  'localStorage',
  new Proxy(
    {
      getItem: (key: string) => stored[key] ?? null,
      removeItem: (key: string) => delete stored[key],
      setItem: (key: string, value: string) => {
        if (full) throw new DOMException('full', 'QuotaExceededError')
        stored[key] = value
      },
    },
    { ownKeys: () => Object.keys(stored), getOwnPropertyDescriptor: () => ({ enumerable: true, configurable: true }) },
  ),
)
vi.stubGlobal('sessionStorage', { getItem: () => null, removeItem: () => {}, setItem: () => {} })
vi.stubGlobal('location', { pathname: '/console/', search: '', replace: () => {} })

// page is what a page of a person has that begins now.
async function page(person: number) {
  vi.resetModules()
  const all = { ...(await import('./kept')), ...(await import('../api/session')) }
  all.keepFor(person)
  return all
}

const kept = () => Object.keys(stored).filter((name) => name.startsWith('reeve.kept'))

beforeEach(() => {
  stored = { 'reeve.signed_in': '1' }
  full = false
  vi.useRealTimers()
})

test('the next page of the same person has what was typed, with its version', async () => {
  ;(await page(1)).keep('/admin/list/7', { nickname: 'Müller' }, 'v1')
  const { recall, keep, forget } = await page(1)
  expect(recall('/admin/list/7')).toMatchObject({ values: { nickname: 'Müller' }, version: 'v1' })
  expect(recall('/admin/list/8')).toBeUndefined()
  keep('/admin/list/7', {})
  expect(kept()).toEqual([])
  keep('/admin/list/7', { nickname: 'M' })
  forget('/admin/list/7')
  expect(kept()).toEqual([])
})

test('another person has nothing of it, and deletes it', async () => {
  ;(await page(1)).keep('/admin/list', { nickname: 'Müller' })
  expect(kept()).toHaveLength(1)
  expect((await page(12)).recall('/admin/list')).toBeUndefined()
  expect(kept()).toEqual([])
})

test('it ends with the sign-out, also of another tab, and not with a lapsed session', async () => {
  const { keep, end } = await page(1)
  keep('/admin/list', { nickname: 'M' })
  stored['reeve.signed_in'] = '' // lapsed
  keep('/admin/dept', { name: 'D' })
  end(true)
  expect(kept()).toHaveLength(2)
  stored['reeve.signed_in'] = '1'
  end(false)
  keep('/admin/list', { nickname: 'M' })
  expect(kept()).toEqual([])
})

test('nothing is stored beside another session, until it is known to be of the same person', async () => {
  const { keep, keepFor } = await page(1)
  stored['reeve.signed_in'] = '2' // another tab
  keep('/admin/list', { nickname: 'M' })
  expect(kept()).toEqual([])
  keepFor(1)
  keep('/admin/list', { nickname: 'M' })
  expect(kept()).toHaveLength(1)
})

test('it ends after a week', async () => {
  vi.useFakeTimers({ now: 0 })
  const { keep, recall } = await page(1)
  keep('/admin/list', { nickname: 'M' })
  vi.setSystemTime(7 * 24 * 3600_000 - 1)
  expect(recall('/admin/list')).toBeDefined()
  vi.setSystemTime(7 * 24 * 3600_000)
  expect(recall('/admin/list')).toBeUndefined()
  await page(1)
  expect(kept()).toEqual([])
})

test('it is bounded, and works with a full or damaged storage', async () => {
  vi.useFakeTimers({ now: 0 })
  const { keep, recall } = await page(1)
  for (let n = 0; n < 30; n++) {
    vi.setSystemTime(n)
    keep(`/admin/list/${n}`, { n })
  }
  expect(kept()).toHaveLength(20)
  expect([recall('/admin/list/9'), recall('/admin/list/10')?.values]).toEqual([undefined, { n: 10 }])
  keep('/admin/list/29', { text: 'x'.repeat(64 * 1024) })
  expect(recall('/admin/list/29')).toBeUndefined()
  full = true
  keep('/admin/list/28', { n: 1 })
  expect(recall('/admin/list/28')).toBeUndefined()
  for (const text of ['', '{', 'null', '1', '{"at":1e999}', '{"at":5}']) {
    stored['reeve.kept 1 /admin/list/28'] = text
    expect(recall('/admin/list/28')).toBeUndefined()
  }
  await page(1)
  expect(stored['reeve.kept 1 /admin/list/28']).toBeUndefined()
})
