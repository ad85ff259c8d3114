import { expect, test } from 'vitest'
import text from '../../../../../server/testdata/openapi.json?raw'
import { curl, go, typescript } from './calls'
import { bodyOf, callOf, exampleOf, filled, matching, named, type OpenAPI, operationAt, operationsOf } from './openapi'

const doc = JSON.parse(text) as OpenAPI
const all = operationsOf(doc)

test('every operation has examples without open ends', () => {
  expect(all.length).toBeGreaterThan(100)
  for (const o of all) {
    const call = callOf(doc, o)
    const shell = curl(call, 'http://here')
    expect(shell, o.id).toContain(`'http://here${filled(o.path)}'`)
    const code = typescript(call, 'http://here')
    // It is a program: the parser takes it.
    const statements = code.replace(/^import.*$/m, '')
    expect(() => Reflect.construct(Function, [`return async (Reeve, file) => {${statements}}`]), o.id).not.toThrow()
    for (const text of [shell, code, go(call, 'http://here')]) {
      expect(text, o.id).not.toMatch(/\{\w+\}|undefined/)
      expect(text.includes('REEVE_KEY'), o.id).toBe(!o.open)
    }
    expect(operationAt(all, o.method, `${filled(o.path)}?x=1`)?.method, o.id).toBe(o.method)
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
  expect(curl({ method: 'POST', path: '/x', body: "it's" }, 'http://here')).toContain(`-d '"it'\\''s"'`)
})
