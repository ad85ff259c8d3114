import { afterAll, beforeEach, expect, test, vi } from 'vitest'
import { isWriting } from './changes'
import { confirmFirst, del, download, get, giveReason, hooks, open, post } from './request'

vi.stubGlobal('localStorage', { getItem: () => '1' })
vi.stubGlobal('navigator', { onLine: true })
vi.stubGlobal('document', { documentElement: { lang: 'en' } })
vi.stubGlobal('fetch', (path: string, { headers, signal }: { headers: Record<string, string>; signal?: AbortSignal }) => {
  if (signal?.aborted) return Promise.reject(signal.reason)
  sent.push(path + (headers['X-Reason'] ? ` because ${headers['X-Reason']}` : ''))
  return responds(path)
})
const before = { ...hooks }
afterAll(() => {
  Object.assign(hooks, before)
  vi.unstubAllGlobals()
})

const denied = () => Response.json({ errorCode: 'reauth_required', msg: 'confirm first', showType: 1 }, { status: 403 })
const fine = () => Response.json({ data: { count: 1 } })

let sent: string[]
let shown: string[]
let asked: number
let recent: boolean // whether the user has just confirmed who it is
let responds: (path: string) => Promise<Response>

beforeEach(() => {
  sent = []
  shown = []
  asked = 0
  recent = false
  responds = async () => (recent ? fine() : denied())
  hooks.failed = (failure) => shown.push(failure.code)
  hooks.confirm = async () => {
    asked++
    recent = true
    return true
  }
})

test('a request is repeated once the user has confirmed who it is, with its reason', async () => {
  giveReason('they left')
  expect(await del('/admin/account/totp')).toEqual({ count: 1 })
  expect(sent).toEqual(['/admin/account/totp because they%20left', '/admin/account/totp because they%20left'])
  await del('/admin/account/totp')
  expect(sent.slice(2)).toEqual(['/admin/account/totp'])
  expect(asked).toBe(1)
})

test('no change is under way while the user is asked', async () => {
  hooks.confirm = async () => {
    expect(isWriting()).toBe(false)
    recent = true
    return true
  }
  await post('/admin/account/totp')
  expect.assertions(1)
})

test('a stream and a download are repeated, too', async () => {
  expect((await open('/system/backup', new AbortController().signal)).ok).toBe(true)
  recent = false
  expect((await download('/system/backup')).name).toBe('file')
  expect([asked, sent.length]).toEqual([2, 4])
})

test('without a confirmation it fails, and nothing is shown', async () => {
  hooks.confirm = async () => false
  for (const act of [() => post('/admin/account/totp'), () => download('/system/backup')])
    await expect(act()).rejects.toMatchObject({ status: 403, code: 'reauth_required' })
  expect([shown, sent.length]).toEqual([[], 2])
})

test('the user is asked once per request', async () => {
  hooks.confirm = async () => ++asked > 0
  await expect(post('/admin/account/totp')).rejects.toMatchObject({ code: 'reauth_required' })
  expect([asked, sent.length]).toEqual([1, 2])
})

test('requests at the same time share one confirmation, also those that are answered after it', async () => {
  let answerLate = (_: Response) => {}
  responds = (path) => (path === '/admin/late' && !recent ? new Promise((answer) => (answerLate = answer)) : Promise.resolve(recent ? fine() : denied()))
  const late = get('/admin/late' as '/admin/info')
  await Promise.all([post('/admin/account/totp'), post('/admin/account/recovery')])
  answerLate(denied())
  await late
  expect([asked, sent.length]).toEqual([1, 6])
})

test('a request that was aborted asks nobody, and is not repeated', async () => {
  const control = new AbortController()
  responds = async () => {
    control.abort()
    return denied()
  }
  await expect(get('/admin/info', {}, { signal: control.signal })).rejects.toThrow(DOMException)
  expect([asked, sent.length]).toEqual([0, 1])

  const later = new AbortController()
  responds = async () => denied()
  hooks.confirm = async () => {
    later.abort()
    return true
  }
  await expect(get('/admin/info', {}, { signal: later.signal })).rejects.toThrow(DOMException)
  expect([shown, sent.length]).toEqual([[], 2])
})

test('a repeated request shows how it fails', async () => {
  responds = async () => (recent ? Response.json({ errorCode: 'conflict', msg: 'no', showType: 2 }, { status: 409 }) : denied())
  await expect(post('/admin/account/totp')).rejects.toMatchObject({ code: 'conflict' })
  expect(shown).toEqual(['conflict'])
})

test('the user is asked beforehand only if that would be required within a moment', async () => {
  const until = (seconds: number) => async () => Response.json({ data: { until: new Date(Date.now() + seconds * 1000).toISOString() } })
  responds = until(120)
  expect([await confirmFirst(), asked]).toEqual([true, 0])
  responds = until(5)
  expect([await confirmFirst(), asked]).toEqual([true, 1])
  hooks.confirm = async () => false
  expect(await confirmFirst()).toBe(false)
})
