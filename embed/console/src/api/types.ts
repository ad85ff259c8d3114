// The types of the API are those of the TypeScript client.
export type * from '../../../sdk/typescript/api'
