import { expect, test } from 'vitest'
import { strengthOf } from './estimate'

test.each([
  ['password1', 'weak', 'common'],
  ['qwertyuiop', 'weak', 'common'],
  ['zxcvbnm,./', 'weak', 'keys'],
  ['aaaaaaaaaaaa', 'weak', 'repeat'],
  ['abcdefghijkl', 'weak', 'sequence'],
  ['annabella', 'weak', 'own'],
  ['x7', 'weak', 'more'],
  ['an entirely new phrase', 'strong', undefined],
])('%s is %s', (password, level, hint) => {
  expect(strengthOf(password, ['annabella', 'annabella@example.org'], 8)).toEqual({ level, ...(hint && { hint }) })
})

test('what the server would refuse as too short is weak', () => {
  expect(strengthOf('an entirely new phrase', [], 23).level).toBe('weak')
  expect(strengthOf('an entirely new phrase', [], 22).level).toBe('strong')
})

test('it takes a moment only, however long the password is', () => {
  const since = performance.now()
  strengthOf('Aa1!'.repeat(256), [], 8)
  expect(performance.now() - since).toBeLessThan(2000)
})
