import { expect, test } from 'vitest'
import { active, choose, chosen } from './filters'

// changed changes parameters as a page does.
function changed(query: string, values: Record<string, string | undefined>): URLSearchParams {
  const params = new URLSearchParams(query)
  for (const [name, value] of Object.entries(values)) value ? params.set(name, value) : params.delete(name)
  return params
}

test('one value is a parameter, and several are a filter', () => {
  let params = changed('status=1', choose(new URLSearchParams(), 'fields.tier', ['gold']))
  expect(params.get('fields.tier')).toBe('gold')
  expect(params.has('filter')).toBe(false)
  params = changed(String(params), choose(params, 'fields.tier', ['gold', 'silver']))
  expect(params.has('fields.tier')).toBe(false)
  expect(chosen(params, 'fields.tier')).toEqual(['gold', 'silver'])
  params = changed(String(params), choose(params, 'fields.size', ['s', 'm']))
  expect(JSON.parse(params.get('filter') ?? '')).toEqual({ 'fields.tier': ['gold', 'silver'], 'fields.size': ['s', 'm'] })
  expect(active(params)).toBe(2)
  params = changed(String(params), choose(params, 'fields.tier', []))
  expect(chosen(params, 'fields.tier')).toEqual([])
  params = changed(String(params), choose(params, 'fields.size', ['s']))
  expect(String(params)).toBe('status=1&fields.size=s')
})

test('ranges count once, and what is no filter is ignored', () => {
  expect(active(new URLSearchParams('fields.points[]=1&fields.points[]=5&status=1&filter=x'))).toBe(1)
  expect(chosen(new URLSearchParams('filter=null'), 'fields.tier')).toEqual([])
})
