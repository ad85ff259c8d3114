import fc from 'fast-check'
import { expect, test } from 'vitest'
import { linesOf, otherName } from './lines'

test.each([
  ['ann@example.org', ['ann  ann@example.org']],
  ['Ann Smith <ann@example.org>', ['ann Ann Smith ann@example.org']],
  ['"Smith, Ann" <ann@example.org>, bob@example.org', ['ann Smith, Ann ann@example.org', 'bob  bob@example.org']],
  ['Ann Smith\nJürgen Müller;  bob+x@example.org,\n\n', ['ann.smith Ann Smith ', 'jurgen.muller Jürgen Müller ', 'bob  bob+x@example.org']],
  ['ANN@example.org, ann@example.org', ['ann  ANN@example.org']],
  ['bo@example.org', ['bo.example.org  bo@example.org']],
  ['王伟', [' 王伟 ']],
  ["O'Brien", ["o.brien O'Brien "]],
  ['<ann@example.org>', ['ann  ann@example.org']],
  [' ,;\n', []],
])('reads %s', (text, want) => {
  expect(linesOf(text).map(({ username, nickname, email }) => `${username} ${nickname} ${email}`)).toEqual(want)
})

test('usernames are valid', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme', maxLength: 60 }), (text) =>
      linesOf(text).every(({ username }) => username === '' || (/^[a-z0-9._-]{3,32}$/.test(username) && otherName(username, 9).length <= 32)),
    ),
  )
})
