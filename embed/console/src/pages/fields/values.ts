import type { FieldForm } from '../../api/types'

// The API returns the values of custom fields as JSON: texts, numbers, booleans, arrays and any
// JSON. Inputs edit the text that a setting of the same type stores, which the API accepts, too.

export type Values = Record<string, unknown>

type Field = Pick<FieldForm, 'key' | 'type' | 'required' | 'writable'>

const prefix = 'fields.'

// nameOf is the name of a field's form item, and of its faults and filters in the API.
export const nameOf = (key: string): string => prefix + key

// textOf returns the text of a value; '' for none.
export function textOf(type: FieldForm['type'], value: unknown): string {
  if (value === undefined || value === null) return ''
  if (type === 'json') return JSON.stringify(value, undefined, 2)
  if (type === 'checkbox') return JSON.stringify(value)
  if (type === 'switch') return value ? '1' : '0'
  return String(value)
}

// given returns '' for a text that stands for no value.
export const given = (type: FieldForm['type'], text = ''): string => (type === 'checkbox' && text === '[]' ? '' : text)

// textsOf returns what the inputs of a record contain, by the names of the form items. values is
// undefined for a new record, in which a required switch is off instead of empty.
export function textsOf(fields: Field[], values?: Values): Record<string, string> {
  const text = ({ key, type, required }: Field) => (!values && type === 'switch' && required ? '0' : textOf(type, values?.[key]))
  return Object.fromEntries(fields.map((field) => [nameOf(field.key), text(field)]))
}

// bodyOf returns the values of a form without those of custom fields, and in fields those of them that
// differ from the values before; null removes one.
export function bodyOf<V extends object>(form: V, fields: Field[], before: Values = {}): V & { fields: Values } {
  const entries = Object.entries(form)
  const texts = Object.fromEntries(entries) as Record<string, string | undefined>
  const sent: Values = {}
  for (const { key, type, writable } of fields) {
    const text = texts[nameOf(key)]
    if (!writable || text === undefined) continue
    if (given(type, text) !== given(type, textOf(type, before[key]))) sent[key] = given(type, text) || null
  }
  const own = Object.fromEntries(entries.filter(([name]) => !name.startsWith(prefix))) as V
  return { ...own, fields: sent }
}
