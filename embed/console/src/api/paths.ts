import type { Api } from './types'

// What the OpenAPI document says of paths, bodies and answers: types alone, of which
// nothing is shipped.

export type Method = keyof Api

export type Path<M extends Method = Method> = { [M1 in M]: keyof Api[M1] }[M]

type Operation<M extends Method, P> = P extends keyof Api[M] ? Api[M][P] : never

// Answer is the data of an operation's answer.
export type Answer<M extends Method, P> = Operation<M, P> extends { answer: infer A } ? A : never

// A flag is 0 or 1, and may be sent as what a switch holds.
type Sent<T> = [T] extends [0 | 1 | undefined] ? ([0 | 1] extends [T] ? T | boolean : T) : T

export type Body<M extends Method, P> = Operation<M, P> extends { body: infer B } ? { [Name in keyof B]: Sent<B[Name]> } : never

// Giving are the paths that answer a T.
export type Giving<T> = { [P in Path<'GET'>]: Answer<'GET', P> extends T ? P : never }[Path<'GET'>]

// Listing are the paths of lists of records like T.
export type Listing<T> = Giving<{ data: T[] }>

// Item is the path of a record in a collection.
export type Item<P extends string> = `${P}/${number}`
