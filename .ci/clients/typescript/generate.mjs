// Writes the types of an OpenAPI document, with files as Blob: `node generate.mjs URL FILE`.
// The command openapi-typescript does the same, but makes files strings.
import { writeFile } from 'node:fs/promises'
import openapiTS, { astToString } from 'openapi-typescript'
import ts from 'typescript'

const blob = ts.factory.createTypeReferenceNode('Blob')
const types = await openapiTS(new URL(process.argv[2]), {
  transform: (schema) => (schema.format === 'binary' ? blob : undefined),
})
await writeFile(process.argv[3], astToString(types))
