import { hasWords } from '../../ui/fold'
import type { Call } from './calls'

// The part of the OpenAPI document that the reference shows, and the examples that are made
// from it.

export type Schema = {
  $ref?: string
  type?: string | string[]
  format?: string
  description?: string
  enum?: (string | number | null)[]
  default?: unknown
  examples?: unknown[]
  properties?: Record<string, Schema>
  required?: string[]
  items?: Schema
  anyOf?: Schema[]
  oneOf?: Schema[]
  additionalProperties?: boolean | Schema
  minimum?: number
  maximum?: number
  minLength?: number
  maxLength?: number
}

export type Parameter = { name: string; in: 'path' | 'query' | 'header'; required?: boolean; description?: string; schema: Schema }
type Content = Record<string, { schema: Schema }>
type Response = { $ref?: string; description?: string; content?: Content }

export type Operation = {
  id: string
  method: string // in upper case
  path: string // with {id}
  title: string
  description: string
  tag: string
  access?: string
  open: boolean // needs no session
  parameters: Parameter[]
  body?: Schema
  media?: string // of the body
  responses: Record<string, Response>
}

type Raw = {
  operationId: string
  summary: string
  description?: string
  tags: string[]
  security: unknown[]
  'x-access'?: string
  parameters?: (Parameter | { $ref: string })[]
  requestBody?: { content: Content }
  responses: Record<string, Response>
}

export type OpenAPI = {
  paths: Record<string, Record<string, Raw>>
  components: { schemas: Record<string, Schema>; responses: Record<string, Response>; parameters: Record<string, Parameter> }
}

export function operationsOf(doc: OpenAPI): Operation[] {
  return Object.entries(doc.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, raw]) => {
      const [media, content] = Object.entries(raw.requestBody?.content ?? {})[0] ?? []
      return {
        id: raw.operationId,
        method: method.toUpperCase(),
        path,
        title: raw.summary,
        description: raw.description ?? '',
        tag: raw.tags[0] ?? '',
        access: raw['x-access'],
        open: raw.security.length === 0,
        parameters: (raw.parameters ?? []).flatMap((p) => ('$ref' in p ? (doc.components.parameters[nameIn(p.$ref)] ?? []) : p)),
        body: content?.schema,
        media,
        responses: raw.responses,
      }
    }),
  )
}

// matching are the operations that have every word in their title, path, name or access.
export function matching(operations: Operation[], text: string): Operation[] {
  return operations.filter((o) => hasWords(text, `${o.title} ${o.method} ${o.path} ${o.id} ${o.access ?? ''} ${o.description}`))
}

// nameIn is the name of the component that a reference is to.
const nameIn = (ref: string): string => ref.split('/').at(-1) ?? ''

// named follows a reference to a schema.
export function named(doc: OpenAPI, schema: Schema): Schema {
  return schema.$ref === undefined ? schema : named(doc, doc.components.schemas[nameIn(schema.$ref)] ?? {})
}

// responseOf follows a reference to a response.
export function responseOf(doc: OpenAPI, response: Response): Response {
  return response.$ref === undefined ? response : (doc.components.responses[nameIn(response.$ref)] ?? {})
}

// typeOf describes a schema in a few words.
export function typeOf(doc: OpenAPI, schema: Schema): string {
  if (schema.$ref) return nameIn(schema.$ref)
  if (schema.anyOf ?? schema.oneOf) return (schema.anyOf ?? schema.oneOf ?? []).map((s) => typeOf(doc, s)).join(' | ')
  if (schema.enum) return schema.enum.map((value) => JSON.stringify(value)).join(' | ')
  if (schema.items) return `${typeOf(doc, schema.items)}[]`
  return [schema.type ?? 'any'].flat().join(' | ')
}

const deepest = 4 // levels of an example; trees refer to themselves

// exampleOf is a value that a schema allows. Of objects it has the required fields, or all if
// there are none.
export function exampleOf(doc: OpenAPI, given: Schema, name = '', depth = 0): unknown {
  const schema = named(doc, given)
  const [example] = schema.examples ?? []
  if (example !== undefined) return example
  if (schema.default !== undefined) return schema.default
  const [first] = schema.enum ?? []
  if (first !== undefined) return first
  const [choice] = schema.anyOf ?? schema.oneOf ?? []
  if (choice) return exampleOf(doc, choice, name, depth)
  if (schema.properties) {
    if (depth >= deepest) return {}
    const names = schema.required?.length ? schema.required : Object.keys(schema.properties)
    return Object.fromEntries(names.map((key) => [key, exampleOf(doc, schema.properties?.[key] ?? {}, key, depth + 1)]))
  }
  if (schema.items) return depth >= deepest ? [] : [exampleOf(doc, schema.items, name, depth + 1)]
  return simple([schema.type ?? 'object'].flat()[0] ?? '', schema, name)
}

function simple(type: string, schema: Schema, name: string): unknown {
  if (type === 'integer' || type === 'number') return Math.max(1, schema.minimum ?? 1)
  if (type === 'boolean') return true
  if (type === 'string') return (name || 'text').padEnd(schema.minLength ?? 0, '-')
  return {}
}

// bodyOf is an example of an operation's JSON body, undefined for none.
export const bodyOf = (doc: OpenAPI, o: Operation): unknown => (o.body && o.media === 'application/json' ? exampleOf(doc, o.body) : undefined)

// filled is a path with the values of its parameters; those that are missing are 1.
export const filled = (path: string, values: Record<string, string> = {}): string =>
  path.replace(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(values[name] || '1'))

// operationAt is the operation of a method and path, like /admin/list/7.
export function operationAt(operations: Operation[], method: string, path: string): Operation | undefined {
  const steps = path.split('?', 1)[0]!.split('/')
  const fits = (o: Operation) => {
    const own = o.path.split('/')
    return o.method === method && own.length === steps.length && own.every((step, i) => step === steps[i] || step[0] === '{')
  }
  const all = operations.filter(fits)
  return all.find((o) => !o.path.includes('{')) ?? all[0]
}

// bytesOf reports whether an operation answers with something else than JSON.
export const bytesOf = (o: Operation): boolean =>
  !('application/json' in (o.responses['200']?.content ?? { 'application/json': true })) || o.path === '/openapi.json'

// callOf is a request for an operation, with examples of its values.
export function callOf(doc: OpenAPI, o: Operation): Call {
  const body = bodyOf(doc, o)
  return {
    method: o.method,
    path: filled(o.path),
    body,
    form: o.body && body === undefined ? { file: '@FILE' } : undefined,
    open: o.open,
    bytes: bytesOf(o),
  }
}
