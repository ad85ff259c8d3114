import type { Api, CheckedScope } from '../api.js';
/** An HTTP method that operations have. */
export type Method = keyof Api;
/** A path of an operation, such as `/admin/list` or `/admin/list/7`. */
export type Path<M extends Method> = keyof Api[M] & string;
type Operation<M extends Method, P> = P extends keyof Api[M] ? Api[M][P] : never;
/** The data in the response of an operation; `unknown` for responses that are not JSON. */
export type Data<M extends Method, P> = Operation<M, P> extends {
    answer: infer A;
} ? A : never;
type Sent<T> = [T] extends [0 | 1 | undefined] ? ([0 | 1] extends [T] ? T | boolean : T) : T;
/** The JSON body of an operation; `undefined` if it has none. */
export type Body<M extends Method, P> = Operation<M, P> extends {
    body: infer B;
} ? {
    [Name in keyof B]: Sent<B[Name]>;
} : never;
/** Query parameters. A list is sent as a repeated parameter; `undefined` and `null` are left out. */
export type Query = Record<string, string | number | boolean | readonly (string | number)[] | null | undefined>;
/** Options of a call that every operation has. */
export interface CommonOptions {
    /** Query parameters. */
    query?: Query;
    /** Cancels the call, which then rejects with the reason of the signal. */
    signal?: AbortSignal;
    /** Makes repeated POST requests one operation, also over several calls: 1 to 255 visible ASCII characters. By default each call has a key of its own. */
    idempotencyKey?: string;
}
type WithBody<B> = [B] extends [undefined] ? {
    body?: undefined;
} : Record<never, never> extends B ? {
    body?: B;
} : {
    body: B;
};
/** Options of a call of an operation. */
export type CallOptions<M extends Method, P> = CommonOptions & WithBody<Body<M, P>>;
/** Arguments behind method and path; the options can be left out if the operation requires no body. */
export type CallArguments<M extends Method, P> = Record<never, never> extends CallOptions<M, P> ? [options?: CallOptions<M, P>] : [options: CallOptions<M, P>];
/**
 * What an installation has. Without the file that `reeve types typescript` writes, it is empty, and every text is the
 * key of a permission; with that file in the program, a key that does not exist is an error of the compiler.
 */
export interface Installation {
}
type Known<Name extends string, Otherwise> = Installation extends {
    [One in Name]: infer Found;
} ? Found : Otherwise;
/** The key of a permission of users, such as `shop.order.refund`. */
export type Permission = Known<'permission', string> & string;
/** The key of a permission of app users. */
export type AppPermission = Known<'appPermission', string> & string;
/** Values of settings by group and key, decoded by type. */
export type Settings = Known<'settings', Record<string, Record<string, any>>> & object;
type Flags = Known<'flags', Record<string, any>>;
/** The key of a feature flag, such as `shop.checkout`. */
export type FlagKey = keyof Flags & string;
type Widened<T> = T extends boolean ? boolean : T extends number ? number : T extends string ? string : T;
/** The values of a flag. */
export type FlagValue<K extends FlagKey, T> = 0 extends 1 & Flags[K] ? Widened<T> : Flags[K];
/** Whose users: `admin` has the users of the console and API keys, `app` the app users. */
export type Realm = 'admin' | 'app';
/** The data scope of a caller: the departments and users whose data they may see. */
export type Scope = CheckedScope;
/** Who has sent a request to a program. */
export interface Caller {
    /** ID of the user or app user; of an API key, of its owner. */
    id: number;
    username: string;
    realm: Realm;
    /** Display name; only of browsers that have signed in. */
    name?: string;
    /** E-mail address, empty for none; only of browsers that have signed in. */
    email?: string;
    /** Names of the enabled roles; only of browsers that have signed in. */
    groups?: string[];
    /** ID of the API key; absent for a session. */
    key_id?: number;
    /** Name of the API key; absent for a session. */
    key_name?: string;
    /** Data scope; null for app users. */
    scope: Scope | null;
}
export {};
