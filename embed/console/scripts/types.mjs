// Writes ../sdk/typescript/api.d.ts from the OpenAPI document that the server's tests hold, so
// that the console and the interface cannot drift apart. `npm run types` after the
// document has changed; continuous integration fails on a stale copy.
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { gunzipSync, gzipSync } from 'node:zlib'

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
      if (schema.additionalProperties && !Object.keys(schema.properties ?? {}).length) return `Record<string, ${type(schema.additionalProperties)}>`
      return schema.properties ? object(schema) : 'Record<string, never>'
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

let out = '// Made by embed/console/scripts/types.mjs from the OpenAPI document; not to be edited.\n'
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

// pathOf is a path with its parameters, as the type of a template.
function pathOf(path, operation) {
  const names = (operation.parameters ?? []).filter((one) => one.in === 'path')
  if (!names.length) return `'${path}'`
  const text = path.replace(/\{(\w+)\}/g, (_, name) => `\${${names.find((one) => one.name === name)?.schema.type === 'integer' ? 'number' : 'string'}}`)
  return `[path: \`${text}\`]`
}

// operationOf is the body and the answer of an operation, without the envelope.
function operationOf(operation) {
  const success = Object.entries(operation.responses).find(([status]) => status.startsWith('2'))?.[1]
  const answer = success?.content?.['application/json']?.schema?.properties?.data
  const body = operation.requestBody?.content?.['application/json']?.schema
  return `{ body: ${body ? type(body) : 'undefined'}; answer: ${type(answer)} }`
}

out += '\n/** The operations, by method and path. */\nexport type Api = {\n'
for (const method of ['get', 'post', 'put', 'delete']) {
  const operations = Object.entries(document.paths).filter(([, methods]) => methods[method])
  out += `  ${method.toUpperCase()}: {\n${operations.map(([path, methods]) => `    ${pathOf(path, methods[method])}: ${operationOf(methods[method])}\n`).join('')}  }\n`
}
out += '}\n'
writeFileSync(new URL('../../sdk/typescript/api.d.ts', import.meta.url), out)

// The program has it compressed. Another zlib makes other bytes, so it stays while it has the same text.
const packed = new URL('../../sdk/typescript/api.d.ts.gz', import.meta.url)
if (!existsSync(packed) || gunzipSync(readFileSync(packed)).toString() !== out) writeFileSync(packed, gzipSync(out, { level: 9 }))
