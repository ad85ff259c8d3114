import { expect, test } from 'vitest'
import { steady } from './steady'

test('a cell renders again with another record or other columns', () => {
  const columns = [{ dataIndex: 'name', render: (name: string) => name.toUpperCase() }, { dataIndex: 'id' }]
  const [name, id] = steady<{ id: number; name: string }>(columns)
  const one = { id: 1, name: 'one' }
  const two = { id: 2, name: 'two' }
  expect(name?.shouldCellUpdate?.(one, one)).toBe(true)
  expect(name?.render?.('one', one, 0)).toBe('ONE')
  expect(id?.render?.(1, one, 0)).toBe(1)
  expect(name?.shouldCellUpdate?.(one, one)).toBe(false)
  expect(name?.shouldCellUpdate?.({ ...one }, one)).toBe(true)
  expect(name?.shouldCellUpdate?.(two, two)).toBe(true)
  expect(steady(columns)[0]?.shouldCellUpdate?.(one, one)).toBe(true)
})
