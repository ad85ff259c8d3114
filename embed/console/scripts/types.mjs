// Writes src/api/types.ts from the OpenAPI document that the server's tests hold, so
// that the console and the interface cannot drift apart. `npm run types` after the
// document has changed; continuous integration fails on a stale copy.
import { readFileSync, writeFileSync } from 'node:fs'

const document = JSON.parse(readFileSync(new URL('../../../server/testdata/openapi.json', import.meta.url)))

function name(ref) {
  return ref.split('/').pop().replace(/\W/g, '_')
}

function type(schema) {
  if (!schema) return 'unknown'
  if (schema.$ref) return name(schema.$ref)
  if (schema.anyOf) return schema.anyOf.map(type).join(' | ')
  if (schema.const !== undefined) return JSON.stringify(schema.const)
  if (schema.enum) return schema.enum.map((v) => JSON.stringify(v)).join(' | ')
  if (Array.isArray(schema.type)) return schema.type.map((t) => type({ ...schema, type: t })).join(' | ')
  switch (schema.type) {
    case 'string':
      return 'string'
    case 'integer':
    case 'number':
      return 'number'
    case 'boolean':
      return 'boolean'
    case 'null':
      return 'null'
    case 'array': {
      const item = type(schema.items)
      return item.includes('|') ? `(${item})[]` : `${item}[]`
    }
    case 'object':
      if (schema.properties) return object(schema)
      return schema.additionalProperties ? `Record<string, ${type(schema.additionalProperties)}>` : 'Record<string, never>'
  }
  return 'unknown'
}

function object(schema) {
  const required = new Set(schema.required ?? [])
  const lines = Object.entries(schema.properties).map(([key, value]) => {
    const comment = value.description ? `  /** ${value.description.replaceAll('*/', '* /')} */\n` : ''
    return `${comment}  ${/^\w+$/.test(key) ? key : JSON.stringify(key)}${required.has(key) ? '' : '?'}: ${type(value)}`
  })
  return `{\n${lines.join('\n')}\n}`
}

let out = '// Made by scripts/types.mjs from the OpenAPI document; not to be edited.\n'
for (const [key, schema] of Object.entries(document.components.schemas).sort(([a], [b]) => (a < b ? -1 : 1))) {
  out += `\nexport type ${key.replace(/\W/g, '_')} = ${type(schema)}\n`
}
const access = new Set(
  Object.values(document.paths)
    .flatMap(Object.values)
    .map((operation) => operation['x-access'])
    .filter((key) => key?.includes('.')),
)
out += `\n/** The permissions that operations ask for. */\nexport type Access =\n${[...access]
  .sort()
  .map((key) => `  | '${key}'`)
  .join('\n')}\n`
writeFileSync(new URL('../src/api/types.ts', import.meta.url), out)
