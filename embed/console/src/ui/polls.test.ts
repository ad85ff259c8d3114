import { afterAll, afterEach, beforeEach, expect, test, vi } from 'vitest'

vi.stubGlobal('localStorage', { getItem: () => '1' })
vi.stubGlobal('navigator', { onLine: true, language: 'en' })
vi.stubGlobal('addEventListener', () => {})
vi.stubGlobal('document', { documentElement: { lang: 'en' }, addEventListener: () => {}, visibilityState: 'visible' })
let asked: string[]
let answers: ((response: Response) => void)[] | undefined // of requests that are not answered yet; undefined to answer at once
vi.stubGlobal('fetch', async (path: string) => {
  asked.push(path)
  const response = Response.json({ data: { total: asked.length } })
  return answers ? new Promise<Response>((answer) => answers?.push(() => answer(response))) : response
})
afterAll(() => void vi.unstubAllGlobals())
const { lookAgain, watch } = await import('./polls')

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'Date'] })
  asked = []
  answers = undefined
})
afterEach(() => void vi.useRealTimers())

const realTimeout = setTimeout

// after lets time pass, and what was asked then be answered.
async function after(seconds: number) {
  await vi.advanceTimersByTimeAsync(seconds * 1000)
  for (let round = 0; round < 5; round++) await new Promise((next) => realTimeout(next))
}

const seen: Record<string, unknown[]> = {}
const watcher = (name: string, seconds: number) => {
  seen[name] = []
  return { seconds, query: () => ({}), show: ({ data }: { data?: unknown }) => void seen[name]!.push(data) }
}

test('components with the same question share one poll, as often as the most frequent needs', async () => {
  const leaveBell = watch('live health', '/system/health', watcher('bell', 120))
  const leaveHome = watch('live health', '/system/health', watcher('home', 60))
  await after(0)
  expect(asked).toEqual(['/system/health'])
  expect([seen.bell?.at(-1), seen.home?.at(-1)]).toEqual([{ total: 1 }, { total: 1 }])

  await after(60)
  expect(asked).toHaveLength(2)
  leaveHome()
  await after(60) // was planned before Home left
  await after(60)
  expect(asked).toHaveLength(3)

  await lookAgain('live health')
  expect(seen.bell?.at(-1)).toEqual({ total: 4 })
  leaveBell()
  await after(600)
  expect(asked).toHaveLength(4)
})

test('a component that comes later gets the answer that is there', async () => {
  const leave = watch('live later', '/system/health', watcher('first', 60))
  await after(0)
  const leaveLater = watch('live later', '/system/health', watcher('later', 60))
  expect(seen.later).toEqual([{ total: 1 }])
  expect(asked).toHaveLength(1)
  leave()
  leaveLater()
})

test('a component that needs a newer answer asks at once, and then as often as it needs', async () => {
  const leave = watch('live old', '/system/health', watcher('slow', 120))
  await after(100)
  const leaveFast = watch('live old', '/system/health', watcher('fast', 10))
  await after(0)
  expect(seen.fast).toEqual([{ total: 1 }, { total: 2 }])
  await after(10)
  expect(asked).toHaveLength(3)
  leave()
  leaveFast()
})

test('an answer that is overtaken by one to a later request is not shown, and the period begins with the answer', async () => {
  answers = []
  const leave = watch('live late', '/system/health', watcher('one', 60))
  void lookAgain('live late')
  await after(0)
  const [first, second] = answers
  second!(new Response())
  await after(50)
  first!(new Response())
  await after(0)
  expect(seen.one).toEqual([{ total: 2 }])
  answers = undefined
  await after(9)
  expect(asked).toHaveLength(2)
  await after(2)
  expect(asked).toHaveLength(3)
  leave()
})
