import { expect, test } from 'vitest'
import { differs, layoutIn, paramsTo, queryOf, stateOf } from './views'

test('a query is compared regardless of order and page', () => {
  expect(queryOf('page=3&status=0&keywordSearch=a&pageSize=50')).toBe('keywordSearch=a&status=0')
})

test('a layout survives a view', () => {
  const layout = { order: ['b', 'a'], shown: { a: false, b: true }, compact: true }
  const saved = stateOf('status=1', layout)
  expect(layoutIn(saved)).toEqual(layout)
  expect(differs(saved, stateOf('page=2&status=1', layout))).toBe(false)
  expect(differs(saved, stateOf('status=0', layout))).toBe(true)
  expect(differs(saved, stateOf('status=1', { ...layout, compact: false }))).toBe(true)
  expect(differs(saved, stateOf('status=1', { ...layout, order: ['a', 'b'] }))).toBe(true)
})

test('another view removes what it does not have', () => {
  expect(paramsTo('page=2&status=0&keywordSearch=a', 'status=1&ids%5B%5D=1&ids%5B%5D=2')).toEqual({
    page: undefined,
    status: '1',
    keywordSearch: undefined,
    'ids[]': ['1', '2'],
  })
  expect(paramsTo('pageSize=50', '', 20)).toEqual({ pageSize: '20' })
  expect(paramsTo('pageSize=50', '')).toEqual({})
})
