import { expect, test } from 'vitest'
import { decode, faultsIn, nameOf, numbers, rangeOf, shown } from './setup'

test('faults are in the order of the lines', () => {
  expect(
    faultsIn({
      'line 10 roles.B': 'b',
      'line 9 settings.shop.line 3 x': 'a',
      'line 12, column 4': 'toml: c',
      'files[0].text': 'too large',
      'line 10 roles.A': 'a',
    }),
  ).toEqual([
    { line: 0, place: 'files[0].text', text: 'too large' },
    { line: 9, place: 'settings.shop.line 3 x', text: 'a' },
    { line: 10, place: 'roles.A', text: 'a' },
    { line: 10, place: 'roles.B', text: 'b' },
    { line: 12, place: '', text: 'toml: c' },
  ])
})

test.each<[string, number, string]>([
  ['', 1, ''],
  ['a', 1, 'a'],
  ['a\nbc\n\nd', 1, 'a'],
  ['a\nbc\n\nd', 2, 'bc'],
  ['a\nbc\n\nd', 3, ''],
  ['a\nbc\n\nd', 4, 'd'],
  ['\n\nx', 3, 'x'],
])('%j: line %i', (text, line, want) => expect(text.slice(...rangeOf(text, line))).toBe(want))

test('a line that the text does not have is empty', () => {
  const [start, end] = rangeOf('a\n', 9)
  expect('a\n'.slice(start, end)).toBe('')
})

test('numbers are divided at marked lines', () => {
  expect(numbers('a\nb\nc\nd', new Set([2, 3]))).toEqual([
    { text: '1\n', marked: false },
    { text: '2\n', marked: true },
    { text: '3\n', marked: true },
    { text: '4\n', marked: false },
  ])
  expect(numbers('', new Set())).toEqual([{ text: '1\n', marked: false }])
})

test.each([
  ['shop.toml', 'shop'],
  ['shop', 'shop'],
  ['shop.toml.txt', 'shop.toml.txt'],
])('%s belongs to %s', (file, want) => expect(nameOf(file)).toBe(want))

test.each<[unknown, string]>([
  [undefined, ''],
  [null, ''],
  [0, '0'],
  [false, 'false'],
  ['a\nb', '"a\\nb"'],
  [['a'], '["a"]'],
])('%j is shown as %s', (value, want) => expect(shown(value)).toBe(want))

test('a long value is cut', () => expect(shown('x'.repeat(1000))).toHaveLength(301))

test('only UTF-8 is text', () => {
  const bytes = (...all: number[]) => new Uint8Array(all).buffer
  expect(decode(bytes(0xc3, 0xa4))).toBe('ä')
  expect(decode(bytes(0xef, 0xbb, 0xbf, 0x61))).toBe('a')
  expect(decode(bytes(0xff, 0xfe, 0x61, 0))).toBeUndefined()
})
