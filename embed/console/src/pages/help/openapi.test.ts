import { expect, test } from 'vitest'
import text from '../../../../../server/testdata/openapi.json?raw'
import { bodyOf, curlOf, exampleOf, filled, matching, named, type OpenAPI, operationsOf, typescriptOf } from './openapi'

const doc = JSON.parse(text) as OpenAPI
const all = operationsOf(doc)

test('every operation has examples without open ends', () => {
  expect(all.length).toBeGreaterThan(100)
  for (const o of all) {
    const curl = curlOf(doc, o, 'http://here')
    expect(curl, o.id).toContain(`'http://here${filled(o.path)}'`)
    expect(curl, o.id).not.toMatch(/\{\w+\}|undefined/)
    expect(curl.includes('$TOKEN'), o.id).toBe(!o.open)
    const code = typescriptOf(doc, o, 'http://here')
    expect(code, o.id).not.toMatch(/undefined/)
    // It is a program: the parser takes it.
    expect(() => Reflect.construct(Function, [`return async (token, file) => {${code}}`]), o.id).not.toThrow()
  }
})

test('parameters that operations share are those of each', () => {
  for (const { id, parameters } of all)
    expect(
      parameters.every(({ name, schema }) => name && schema),
      id,
    ).toBe(true)
  expect(all.find(({ id }) => id === 'getOwnAccount')?.parameters.map(({ name }) => name)).toEqual(['X-Act-As'])
})

test('bodies have the fields that are required', () => {
  for (const o of all) {
    const body = bodyOf(doc, o)
    if (body === undefined || !o.body) continue
    for (const name of named(doc, o.body).required ?? []) expect(body, o.id).toHaveProperty(name)
  }
})

test('an example of a tree ends', () => {
  const tree: OpenAPI = {
    paths: {},
    components: { responses: {}, parameters: {}, schemas: { Node: { properties: { children: { items: { $ref: '#/components/schemas/Node' } } } } } },
  }
  expect(JSON.stringify(exampleOf(tree, { $ref: '#/components/schemas/Node' })).length).toBeLessThan(200)
})

test('a search needs every word', () => {
  expect(matching(all, 'create dictionary').map((o) => o.id)).toContain('createDict')
  expect(matching(all, 'PUT /system/dict').map((o) => o.id)).toContain('updateDict')
  expect(matching(all, 'create nonsense')).toEqual([])
  expect(matching(all, ' ')).toHaveLength(all.length)
})

test("a quote in a value does not end the shell's word", () => {
  const o = { ...all[0]!, open: true, method: 'POST', path: '/x', media: 'application/json', body: { default: "it's" } }
  expect(curlOf(doc, o, 'http://here')).toContain(`-d '"it'\\''s"'`)
})
