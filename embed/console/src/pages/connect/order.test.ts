import { beforeEach, expect, test, vi } from 'vitest'
import type { Choice } from '../../api/types'

const choice = (name: string, ...domains: string[]): Choice => ({
  name,
  title: name,
  kind: 'openid',
  domains,
  url: `https://reeve.example/auth/provider/${name}/start`,
})

const all = [choice('a'), choice('b', 'example.org', 'example.net'), choice('c', 'example.com')]

beforeEach(() => {
  const kept = new Map<string, string>()
  vi.stubGlobal('location', { pathname: '/console/' })
  vi.stubGlobal('localStorage', { getItem: (key: string) => kept.get(key) ?? null, setItem: (key: string, value: string) => kept.set(key, value) })
})

test('the provider for the address is first, then the one that was used last', async () => {
  const { ordered, last, remember } = await import('./order')
  const names = (address: string, used = '') => ordered(all, address, used).map(({ name }) => name)
  expect(names('')).toEqual(['a', 'b', 'c'])
  expect(names('ada@Example.ORG ')).toEqual(['b', 'a', 'c'])
  expect(names('ada@example.org', 'c')).toEqual(['b', 'c', 'a'])
  expect(names('ada', 'c')).toEqual(['c', 'a', 'b'])
  expect(last()).toBe('')
  remember('c')
  expect(last()).toBe('c')
})

test('an address is in a domain only as a whole', async () => {
  const { fits } = await import('./order')
  for (const address of ['example.org', 'ada@sub.example.org', 'ada@notexample.org', 'ada@example.org@evil.test', '@', '']) {
    expect(fits(choice('b', 'example.org'), address), address).toBe(false)
  }
})

test('what is typed is passed on only if it is an address', async () => {
  const { hrefOf } = await import('./order')
  const query = (address: string) => new URL(hrefOf(choice('a'), '/console/a?b=1&c=2', address)).searchParams
  expect(query('ada').has('address')).toBe(false)
  expect(query(' ada+x@example.org').get('address')).toBe('ada+x@example.org')
  expect(query('ada').get('to')).toBe('/console/a?b=1&c=2')
})
