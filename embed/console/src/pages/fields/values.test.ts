import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { FieldForm } from '../../api/types'
import { bodyOf, textOf, textsOf } from './values'

const field = (type: FieldForm['type'], more: Partial<FieldForm> = {}) => ({ key: type, type, required: 0, writable: 1, ...more }) as FieldForm

const examples: [FieldForm['type'], unknown, string][] = [
  ['input', 'A b', 'A b'],
  ['textarea', 'one\ntwo', 'one\ntwo'],
  ['number', 12.5, '12.5'],
  ['number', 0, '0'],
  ['switch', true, '1'],
  ['switch', false, '0'],
  ['select', 'gold', 'gold'],
  ['checkbox', ['a', 'b'], '["a","b"]'],
  ['date', '2025-05-08', '2025-05-08'],
  ['json', 'text', '"text"'],
  ['json', { a: [1] }, '{\n  "a": [\n    1\n  ]\n}'],
  ['json', undefined, ''],
  ['number', null, ''],
]

test.each(examples)('a value of the type %s: %j', (type, value, text) => {
  expect(textOf(type, value)).toBe(text)
})

test('what has not changed is not sent', () => {
  for (const [type, value] of examples) {
    const values = { [type]: value }
    expect(bodyOf({ nickname: 'A', ...textsOf([field(type)], values) }, [field(type)], values)).toEqual({ nickname: 'A', fields: {} })
  }
  fc.assert(
    fc.property(fc.jsonValue(), (value) => {
      const fields = [field('json')]
      expect(bodyOf(textsOf(fields, { json: value }), fields, { json: value }).fields).toEqual({})
    }),
  )
})

test('changed values are sent as texts, and removed ones as null', () => {
  const fields = [field('number'), field('input'), field('checkbox'), field('switch'), field('date', { writable: 0 })]
  const form = { username: 'ivy', 'fields.number': '13', 'fields.input': '', 'fields.checkbox': '[]', 'fields.switch': '0', 'fields.date': '2025-01-01' }
  const before = { number: 12, input: 'x', checkbox: ['a'], switch: true, date: '2024-01-01' }
  expect(bodyOf(form, fields, before)).toEqual({ username: 'ivy', fields: { number: '13', input: null, checkbox: null, switch: '0' } })
})

test('an empty choice is no value', () => {
  expect(bodyOf({ 'fields.checkbox': '[]' }, [field('checkbox')]).fields).toEqual({})
})

test('a required switch of a new record is off, and is sent', () => {
  const fields = [field('switch', { required: 1 })]
  expect(textsOf(fields)).toEqual({ 'fields.switch': '0' })
  expect(bodyOf(textsOf(fields), fields).fields).toEqual({ switch: '0' })
  expect(bodyOf(textsOf(fields, {}), fields, {}).fields).toEqual({})
})

test('an input that is not shown is not sent', () => {
  expect(bodyOf({ nickname: 'A' }, [field('input')], { input: 'x' })).toEqual({ nickname: 'A', fields: {} })
})
