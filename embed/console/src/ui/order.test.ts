import fc from 'fast-check'
import { expect, test } from 'vitest'
import { between, type Placed } from './order'

const inOrder = (a: Placed, b: Placed) => a.sort - b.sort || a.id - b.id

// Ordered records, one of them removed, and the index where it is inserted.
const moves = fc
  .uniqueArray(fc.record({ id: fc.integer({ min: 1, max: 200 }), sort: fc.oneof(fc.integer({ min: -20, max: 20 }), fc.constantFrom(-1_000_000, 1_000_000)) }), {
    selector: (one) => one.id,
    minLength: 1,
    maxLength: 30,
  })
  .chain((all) => fc.tuple(fc.constant(all.toSorted(inOrder)), fc.nat(all.length - 1), fc.nat(all.length - 1)))
  .map(([all, from, to]) => {
    const others = all.toSpliced(from, 1)
    return { item: all[from] as Placed, before: others.slice(0, to), after: others.slice(to) }
  })

const written = (all: Placed[], changes: Placed[]) => all.map((one) => changes.find((change) => change.id === one.id) ?? one).toSorted(inOrder)

test('a record is between the others afterwards, and they keep their order', () => {
  fc.assert(
    fc.property(moves, ({ before, item, after }) => {
      const all = [...before, item, ...after]
      expect(written(all, between(before, item, after)).map((one) => one.id)).toEqual(all.map((one) => one.id))
    }),
  )
})

test('numbers stay within what the API takes, each is written once, and none without need', () => {
  fc.assert(
    fc.property(moves, ({ before, item, after }) => {
      const changes = between(before, item, after)
      expect(changes.every(({ sort }) => Number.isInteger(sort) && Math.abs(sort) <= 1_000_000)).toBe(true)
      expect(new Set(changes.map((one) => one.id)).size).toBe(changes.length)
      for (const { id, sort } of changes) if (id !== item.id) expect([...before, ...after].find((one) => one.id === id)?.sort).not.toBe(sort)
    }),
  )
})

test('where there is room, one record is written', () => {
  const at = (id: number, sort: number) => ({ id, sort })
  expect(between([at(1, 10)], at(9, 0), [at(2, 20)])).toEqual([at(9, 14)])
  expect(between([], at(9, 0), [at(2, 20)])).toHaveLength(1)
  expect(between([at(2, 20)], at(9, 0), [])).toHaveLength(1)
})
