import fc from 'fast-check'
import { expect, test } from 'vitest'
import { byLabel, folded, has, hasWords, placeOf } from './fold'

// The same pairs are in fold_test.go: whether a search for one finds the other.
test.each([
  ['Müller', 'muller', true],
  ['Müller', 'Mueller', false],
  ['Grüße', 'GRU\u0308SSE', true],
  ['Straße', 'strasse', true],
  ['STRAẞE', 'strasse', true],
  ['ΟΔΟΣ', 'οδος', true],
  ['ΟΔΟΣ ΒΟΡΡΑΣ', 'οδος βορρας', true],
  ['Αθήνα', 'αθηνα', true],
  ['İstanbul', 'istanbul', true],
  ['Işık', 'isik', true],
  ['Søren', 'soren', true],
  ['Łódź', 'lodz', true],
  ['Þór', 'thor', true],
  ['Cœur', 'coeur', true],
  ['Nguyễn Thị Đào', 'nguyen thi dao', true],
  ['Фёдор', 'федор', true],
  ['май', 'маи', false],
  ['МАЙ', 'май', true],
  ['한국', '한국'.normalize('NFD'), true],
  ['がき', 'かき', false],
  ['ｶﾞｷﾞ', 'ガギ', true],
  ['ＡＤＭＩＮ１', 'admin1', true],
  ['山田　太郎', '山田 太郎', true],
  ['שָׁלוֹם', 'שלום', true],
  ['مُحَمَّد', 'محمد', true],
  ['أحمد', 'احمد', true],
  ['مؤمن', 'مومن', false],
  ['محـــمد', 'محمد', true],
  ['علی', 'علي', true],
  ['กิน', 'กน', false],
  ['ข้าว', 'ขาว', false],
  ['ﬁn', 'fin', true],
  ['m²', 'm2', true],
  ['Support\u200b', 'support', true],
  ['O’Brien', "O'Brien", true],
  ['Anna‑Lena', 'anna-lena', true],
])('folds %s and %s', (a, b, same) => {
  expect(folded(a) === folded(b)).toBe(same)
})

test('folding twice changes nothing', () => {
  fc.assert(fc.property(fc.string({ unit: 'grapheme' }), (s) => folded(folded(s)) === folded(s)))
})

test('finds words and parts', () => {
  expect(has(folded('mull'), 'x', 'Jürgen Müller')).toBe(true)
  expect(has(folded('mull'), 'x')).toBe(false)
  expect(hasWords('MULLER jur', 'Jürgen Müller')).toBe(true)
  expect(hasWords('', 'x')).toBe(true)
  expect(byLabel.filterOption('strasse', { label: 'Hauptstraße' })).toBe(true)
  expect(byLabel.filterOption('x', {})).toBe(false)
})

test.each([
  ['muller', 'Jürgen Müller', 'Müller'],
  ['muller', 'Ju\u0308rgen Mu\u0308ller', 'Mu\u0308ller'],
  ['strasse', 'Hauptstraße 1', 'straße'],
  ['fi', 'ﬁn', 'ﬁ'],
  ['cafe', 'cafe\u0301 x', 'cafe\u0301'],
  ['b', 'abc', 'b'],
  ['x', 'cafe\u0301x', 'x'],
])('marks %s in %s', (search, text, marked) => {
  const [from, to] = placeOf(search, text)!
  expect(text.slice(from, to)).toBe(marked)
})

test('marks nothing that is not there', () => {
  expect(placeOf('z', 'abc')).toBeUndefined()
})
