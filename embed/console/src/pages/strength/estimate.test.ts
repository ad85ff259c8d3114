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
  expect(strengthOf(password, ['annabella', 'annabella@example.org'])).toEqual({ level, ...(hint && { hint }) })
})

test('it takes a moment only, however long the password is', () => {
  const since = performance.now()
  strengthOf('Aa1!'.repeat(256), [])
  expect(performance.now() - since).toBeLessThan(2000)
})
