import type { Api } from './types'

// Types of paths, bodies and responses from the OpenAPI document. Types only: nothing is
// shipped.

export type Method = keyof Api

export type Path<M extends Method = Method> = { [M1 in M]: keyof Api[M1] }[M]

type Operation<M extends Method, P> = P extends keyof Api[M] ? Api[M][P] : never

// Answer is the data in an operation's response.
export type Answer<M extends Method, P> = Operation<M, P> extends { answer: infer A } ? A : never

// A flag is 0 or 1 and can be sent as a boolean.
type Sent<T> = [T] extends [0 | 1 | undefined] ? ([0 | 1] extends [T] ? T | boolean : T) : T

export type Body<M extends Method, P> = Operation<M, P> extends { body: infer B } ? { [Name in keyof B]: Sent<B[Name]> } : never

// Giving are the paths that return a T.
export type Giving<T> = { [P in Path<'GET'>]: Answer<'GET', P> extends T ? P : never }[Path<'GET'>]

// Listing are the paths of lists of T.
export type Listing<T> = Giving<{ data: T[] }>

// Item is the path of a record in a collection.
export type Item<P extends string> = `${P}/${number}`
