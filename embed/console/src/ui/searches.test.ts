import { expect, test } from 'vitest'

// Every search in the browser compares texts as the API does: with fold.ts, or on the server.

const sources = Object.entries(import.meta.glob<string>('../**/*.tsx', { query: '?raw', import: 'default', eager: true })).filter(
  ([path]) => !path.includes('test'),
)

// Elements that people can search in: those with showSearch, and those that antd lets search by default.
const searchable = /<(Select|TreeSelect|AutoComplete)\b([\s\S]*?)(?:\/>|<\/\1>)/g
const folds =
  /showSearch=\{(?:byLabel|byText\('\w+'\)|[^}]*\? byLabel : false)\}|filterOption: false|filterOption: \(typed, option\) => has\(folded\(typed\)|open=\{false\}/

test('selects fold what is typed', () => {
  const found = sources.flatMap(([path, source]) =>
    [...source.matchAll(searchable)]
      .filter(([, name, props]) => name !== 'Select' || /showSearch|mode="(?:multiple|tags)"/.test(props!))
      .map(([, name, props]) => ({ path, name, folds: folds.test(props!) })),
  )
  expect(found.length).toBeGreaterThan(25)
  expect(found.filter((one) => !one.folds)).toEqual([])
})

// What filters rows or options by a typed text goes through fold.ts.
test('lists fold what is typed', () => {
  const bare = sources.filter(([, source]) => /\.toLowerCase\(\)\s*\.includes\(|includes\([^)]*\.toLowerCase\(\)\)/.test(source))
  expect(bare.map(([path]) => path)).toEqual([])
})
