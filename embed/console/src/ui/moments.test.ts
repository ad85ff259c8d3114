import { expect, test } from 'vitest'

// The browser's own fields for dates have the format of the browser's language; those of the console
// are YYYY-MM-DD everywhere.

const sources = import.meta.glob<string>('../**/*.{ts,tsx}', { query: '?raw', import: 'default', eager: true })

const native = /\btype\s*[=:]\s*\{?\s*["'`](?:date|datetime-local|time|month|week)["'`]/
const input = /<(?:Input|input)\b.*?\/>/gs

test('no field for a date is the browser’s own', () => {
  expect('<Input type="date" />').toMatch(native)
  const found = Object.entries(sources).flatMap(([path, source]) =>
    (source.match(input) ?? []).filter((tag) => native.test(tag)).map((tag) => `${path}: ${tag}`),
  )
  expect(found).toEqual([])
})
