import { describe, expect, test } from 'vitest'
import { blank, newRule, read, rename, retype, sum, write } from './flag'

const full = {
  enabled: true,
  variants: { on: true, off: false },
  default: 'off',
  off: 'off',
  rules: [
    {
      name: 'Staff',
      roles: [1],
      depts: [2],
      users: [7],
      app_users: [3],
      attributes: { country: ['CH', 'LI'] },
      from: '2026-01-01T00:00:00Z',
      until: '2026-02-01T00:00:00Z',
      variant: 'on',
    },
    { percent: { on: 20.5, off: 79.5 } },
  ],
}

describe('a flag', () => {
  test.each([
    ['a blank one', blank],
    ['with everything', JSON.stringify(full)],
    ['of objects', '{"enabled":true,"variants":{"a":{"x":[1]}},"default":"a"}'],
    ['of texts that look like numbers', '{"enabled":true,"variants":{"a":"1"},"default":"a"}'],
  ])('%s stays what it is', (_, text) => {
    expect(JSON.parse(write(read(text)!))).toEqual(JSON.parse(text))
  })

  test.each(['{', '[]', '{"variants":{}}', 'null'])('is not in %s', (text) => expect(read(text)).toBeUndefined())

  test('keeps a variant in use when it is renamed', () => {
    const renamed = JSON.parse(write(rename(read(JSON.stringify(full))!, 1, 'none'))) as typeof full
    expect(renamed).toEqual({
      ...full,
      variants: { on: true, none: false },
      default: 'none',
      off: 'none',
      rules: [full.rules[0], { percent: { on: 20.5, none: 79.5 } }],
    })
  })

  test('has values of its type', () => {
    expect(retype(read(blank)!, 'number').variants.map((v) => v.text)).toEqual(['0', '1'])
    expect((JSON.parse(write(retype(read(blank)!, 'string'))) as typeof full).variants).toEqual({ on: 'on', off: 'off' })
  })

  test('leaves out shares of variants that are gone', () => {
    const flag = read(JSON.stringify(full))!
    flag.variants.pop()
    expect((JSON.parse(write(flag)) as { rules: unknown[] }).rules[1]).toEqual({ percent: { on: 20.5 } })
    expect(sum(flag.rules[1]!, flag.variants)).toBe(20.5)
  })

  test('adds up decimals exactly', () => {
    const variants = ['a', 'b', 'c'].map((name) => ({ name, text: '1' }))
    expect(sum({ ...newRule('a'), percent: { a: 33.3, b: 33.3, c: 33.4 } }, variants)).toBe(100)
  })
})
