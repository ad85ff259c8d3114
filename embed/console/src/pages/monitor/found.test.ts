import fc from 'fast-check'
import { expect, test } from 'vitest'
import { type Answer, below, type Found, first, nextOf, nothing, onTop, size } from './found'

type Event = { id: number; recorded_at: string }

const spread = 20 // an event is stored when its request ends, so it may have started before the previous one

// Server answers like the API: newest first, up to a time, one page per request.
class Server {
  events: Event[] = []
  arrive(delays: number[]) {
    for (const delay of delays) {
      const id = this.events.length + 1
      this.events.push({ id, recorded_at: new Date(1e12 + (id - (delay % spread)) * 1000).toISOString() })
    }
  }
  answer(page: number, pageSize: number, to?: string): Answer<Event> {
    const matching = this.events.filter((event) => to === undefined || event.recorded_at <= to).toReversed()
    return { data: matching.slice((page - 1) * pageSize, page * pageSize), total: matching.length, scanned_until: null }
  }
}

type Step = { arrive: number[]; act: 'more' | 'live' | 'reload' }

const steps = fc.array(fc.record<Step>({ arrive: fc.array(fc.nat(), { maxLength: 150 }), act: fc.constantFrom('more', 'live', 'reload') }), {
  minLength: 1,
  maxLength: 6,
})

function more(now: Found<Event>, server: Server): Found<Event> {
  const next = nextOf(now)
  return next ? below(now, next, server.answer(next.page, size, next.to)) : now
}

function run(server: Server, all: Step[]): Found<Event> {
  let now: Found<Event> = nothing
  for (const { arrive, act } of all) {
    server.arrive(arrive)
    if (act === 'reload') now = first(server.answer(1, size), undefined)
    else now = act === 'live' ? onTop(now, server.answer(1, 2 * size)) : more(now, server)
  }
  return now
}

test('no event is in the list twice', () => {
  fc.assert(
    fc.property(steps, (all) => {
      const { rows } = run(new Server(), all)
      expect(new Set(rows.map((row) => row.id)).size).toBe(rows.length)
    }),
  )
})

test('a list that is read to its end has every event up to its newest', () => {
  fc.assert(
    fc.property(steps, fc.array(fc.nat(), { minLength: 1, maxLength: 150 }), (all, arrive) => {
      const server = new Server()
      let now = run(server, [{ arrive, act: 'reload' }, ...all])
      for (let asked = 0; nextOf(now) && asked < 100; asked++) now = more(now, server)
      const newest = Math.max(...now.rows.map((row) => row.id))
      expect(nextOf(now)).toBeUndefined()
      expect(now.rows.map((row) => row.id).sort((a, b) => b - a)).toEqual(Array.from({ length: newest }, (_, i) => newest - i))
    }),
  )
})

test('events that came in live are fresh, and on top', () => {
  const server = new Server()
  server.arrive(Array(10).fill(0))
  const before = first(server.answer(1, size), undefined)
  server.arrive([0, 0])
  const now = onTop(before, server.answer(1, 2 * size))
  expect([...now.fresh]).toEqual([12, 11])
  expect(now.rows.map((row) => row.id)).toEqual([12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1])
  expect(now.before + now.total).toBe(12)
  expect(onTop(now, server.answer(1, 2 * size))).toBe(now)
})

test('a live list does not grow without end', () => {
  const server = new Server()
  let now: Found<Event> = nothing
  for (let i = 0; i < 30; i++) {
    server.arrive(Array(60).fill(0))
    now = onTop(now, server.answer(1, 2 * size))
  }
  expect(now.rows.length).toBe(1000)
  expect(now.rows[0]?.id).toBe(30 * 60)
  expect(nextOf(now)).toBeDefined()
})
