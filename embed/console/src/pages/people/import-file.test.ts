import fc from 'fast-check'
import { expect, test } from 'vitest'
import { bare, decode, guess, isExact, made, namesOf, parse, rejected, safe, meant } from './import-file'

const targets = ['username', 'nickname', 'email', 'mobile', 'sex', 'department', 'roles', 'status', 'fields.tier'].map((column) => ({
  column,
  title: column === 'fields.tier' ? 'Tier of the contract' : column,
}))

const sheet = (text: string) => parse(text)!
const guessed = (text: string) => guess(sheet(text), targets)

test.each([
  ['commas', 'a,b\n1,2\n', [[2, '1', '2']]],
  ['semicolons and a carriage return', 'a;b\r\n1;"2;3"\r\n', [[2, '1', '2;3']]],
  ['tabs, without an end', 'a\tb\n1\t', [[2, '1', '']]],
  ['a stated separator', 'sep=|\na|b\n1|2\n', [[3, '1', '2']]],
  ['old line ends', 'a,b\r1,2\r', [[2, '1', '2']]],
  [
    'quotation marks and line breaks',
    'a,b\n"x\ny","say ""hi"""\n3,4\n',
    [
      [2, 'x\ny', 'say "hi"'],
      [4, '3', '4'],
    ],
  ],
  ['empty lines', 'a,b\n\n1,2\n\n', [[3, '1', '2']]],
])('reads %s', (_, text, want) => {
  expect(sheet(text).rows.map(({ line, cells }) => [line, ...cells])).toEqual(want)
  expect(sheet(text).header).toEqual(['a', 'b'])
})

test.each([
  ['an open quotation mark', 'a\n"x'],
  ['a misplaced one', 'a\nx"y\n'],
  ['text after a closing one', 'a\n"x"y\n'],
  ['no rows', 'a,b\n'],
  ['nothing', ''],
  ['too many rows', `a\n${'x\n'.repeat(10_001)}`],
])('does not understand %s', (_, text) => expect(parse(text)).toBeUndefined())

test('any table is read as it was written, with its lines', async () => {
  const cell = fc.string({ unit: fc.constantFrom('a', '"', ',', ';', '\n', '\r\n', ' ', '=', 'ü', '名'), maxLength: 6 })
  await fc.assert(
    fc.asyncProperty(fc.array(fc.tuple(fc.constant('x'), cell), { minLength: 1 }), async (rows) => {
      const given = rows.map((cells, at) => ({ line: at, cells: [...cells] }))
      const { file, lines } = made(given, ['username', 'nickname'])
      const read = sheet(await file.text()).rows
      expect(read.map(({ line, cells }) => ({ line: lines.get(line), cells }))).toEqual(given)
    }),
  )
})

test.each([
  ['names of the API', 'USERNAME,Email,fields.tier\nann,a@b.cd,x\n', ['username', 'email', 'fields.tier']],
  [
    'English names',
    'Login name,Full name,E-mail,Phone number,Dept.,Role,Enabled,Gender\nann,Ann,,,,,,\n',
    ['username', 'nickname', 'email', 'mobile', 'department', 'roles', 'status', 'sex'],
  ],
  [
    'Chinese names',
    '登录名,姓名,电子邮箱,手机号码,所属部门,角色,状态,性别\nann,安,,,,,,\n',
    ['username', 'nickname', 'email', 'mobile', 'department', 'roles', 'status', 'sex'],
  ],
  ['titles of custom fields', 'account,Tier of the contract\nann,gold\n', ['username', 'fields.tier']],
  ['content', 'x,y,z,n\nann@b.cd,+49 30 12345,ann.b,7\nbob@b.cd,030 123456,bob,7\n', ['email', 'mobile', 'username', '']],
  ['the first of two', 'mail,email address,user\na@b.cd,c@d.ef,ann\n', ['email', '', 'username']],
  ['nothing that is not there', 'password,notes,reason\nsecret 1,a b,c d\n', ['', '', '']],
])('guesses by %s', (_, text, want) => expect(guessed(text)).toEqual(want))

test('guesses by the names of departments and roles that there are', () => {
  const known = {
    department: namesOf([{ name: 'Head Office', children: [{ name: 'Verkäufe' }, { name: 'Stores' }] }]),
    roles: namesOf([{ name: 'Clerk' }, { name: 'Owner' }]),
  }
  const by = (text: string) => guess(sheet(text), targets, known)
  expect(by('n;where;what\nann;head office/verkaufe;clerk;\nbob;Head office/Stores;"Owner; Clerk"\ncay;;\n')).toEqual(['username', 'department', 'roles'])
  expect(by('n,where\nann,Head Office/Stores\nbob,Elsewhere\n')).toEqual(['username', ''])
  expect(by('n,from,to\nann,Head Office,Head Office\n')).toEqual(['username', 'department', ''])
  expect(guess(sheet('n,where\nann,Head Office\n'), targets)).toEqual(['username', ''])
})

test('only names of the API need no question', () => {
  const exact = (text: string) => isExact(sheet(text), guessed(text))
  expect([exact('Username,email\na,b\n'), exact('user,email\na,b\n'), exact('username,notes\na,b\n')]).toEqual([true, false, false])
})

test('words for sex and status are what the API has', () => {
  expect([meant('sex', ' 女 '), meant('sex', 'Male'), meant('status', '停用'), meant('status', 'Yes'), meant('sex', 'x'), meant('email', 'm')]).toEqual([
    '2',
    '1',
    '0',
    '1',
    'x',
    'm',
  ])
})

test('encodings', () => {
  const bytes = (...all: number[]) => new Uint8Array(all).buffer
  expect(decode(bytes(0xef, 0xbb, 0xbf, 0x61), '')).toEqual({ text: 'a', charset: 'utf-8' })
  expect(decode(bytes(0xff, 0xfe, 0x61, 0), '')).toEqual({ text: 'a', charset: 'utf-16le' })
  expect(decode(bytes(0xfc), '')).toBeUndefined()
  expect(decode(bytes(0xfc), 'windows-1252')?.text).toBe('ü')
  expect(decode(bytes(0xfc), 'ibm437')).toBeUndefined()
})

test('what was not imported is a table with reasons, in which nothing is computed', async () => {
  const read = sheet("user,note\nann,=1+1\nbob,'=2\ncleo,fine\n")
  const text = await rejected(
    read,
    'Reason',
    new Map([
      [2, 'note: no'],
      [3, '=bad'],
    ]),
  ).text()
  expect(text.replace('\uFEFF', '')).toBe('"user","note","Reason"\r\n"ann","\'=1+1","note: no"\r\n"bob","\'=2","\'=bad"\r\n')
})

test('what is made safe can be made bare', () => {
  const unit = fc.constantFrom("'", '=', '+', 'a', ' ', '"', ';', ',', '\n', '-')
  fc.assert(
    fc.property(fc.string({ unit, maxLength: 8 }), (cell) => {
      expect(bare(safe(cell))).toBe(cell)
    }),
  )
})
