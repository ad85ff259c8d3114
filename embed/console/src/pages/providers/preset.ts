import { Failure } from '../../api/request'
import type { CreateSignInProvider, Mapping, Provider, UpdateSignInProvider } from '../../api/types'

export type Kind = NonNullable<CreateSignInProvider['kind']>

type Preset = { issuer: string; scopes: string[] }

const standard = ['profile', 'email']

// presets are what is known of each kind of provider. What has to be replaced in an issuer is in capital letters.
export const presets: Record<Kind, Preset> = {
  google: { issuer: 'https://accounts.google.com', scopes: standard },
  microsoft: { issuer: 'https://login.microsoftonline.com/TENANT-ID/v2.0', scopes: standard },
  github: { issuer: 'https://github.com', scopes: ['read:user', 'user:email'] },
  gitlab: { issuer: 'https://gitlab.com', scopes: standard },
  keycloak: { issuer: 'https://HOST/realms/REALM', scopes: standard },
  authentik: { issuer: 'https://HOST/application/o/SLUG/', scopes: standard },
  openid: { issuer: '', scopes: standard },
}

export const kinds = Object.keys(presets) as Kind[]

// isTemplate reports whether an issuer still has something to replace.
export const isTemplate = (issuer: string): boolean => /TENANT-ID|\/\/HOST\/|\/REALM$|\/SLUG\/$/.test(issuer)

const same = (a: string[], b: string[]) => a.length === b.length && a.every((one) => b.includes(one))

// filled returns what choosing a kind fills in. Values that were entered stay.
export function filled(kind: Kind, now: { issuer?: string; scopes?: string[] }): Partial<Preset> {
  const untouched = Object.values(presets)
  const { issuer = '', scopes = [] } = now
  return {
    ...(issuer === '' || untouched.some((one) => one.issuer === issuer) ? { issuer: presets[kind].issuer } : {}),
    ...(scopes.length === 0 || untouched.some((one) => same(one.scopes, scopes)) ? { scopes: presets[kind].scopes } : {}),
  }
}

// Realm is whom a provider signs in.
export type Realm = 'users' | 'app_users'

export type Values = Pick<Provider, 'name' | 'title' | 'issuer' | 'client_id' | 'scopes' | 'domains' | 'factor_values' | 'mappings'> & {
  kind: Kind
  creates: NonNullable<CreateSignInProvider['creates']>
  realms: Realm[]
  client_secret?: string
  remove_secret: boolean
  trusts_address: boolean
  ends_session: boolean
  status: boolean
  sort: number | null
}

export const blank: Partial<Values> = {
  kind: 'openid',
  name: '',
  title: '',
  ...presets.openid,
  client_id: '',
  client_secret: '',
  remove_secret: false,
  domains: [],
  realms: ['users'],
  creates: 'never',
  trusts_address: false,
  factor_values: [],
  ends_session: false,
  mappings: [],
  status: false,
  sort: 0,
}

// valuesOf are what the form of a provider shows. The client secret is not known here.
export const valuesOf = (of: Provider): Values => ({
  kind: of.kind as Kind,
  name: of.name,
  title: of.title,
  issuer: of.issuer,
  client_id: of.client_id,
  client_secret: '',
  remove_secret: false,
  scopes: of.scopes,
  domains: of.domains,
  realms: realmsOf(of),
  creates: of.creates as Values['creates'],
  trusts_address: of.trusts_address === 1,
  factor_values: of.factor_values,
  ends_session: of.ends_session === 1,
  mappings: of.mappings,
  status: of.status === 1,
  sort: of.sort,
})

export const realmsOf = ({ users, app_users }: Pick<Provider, Realm>): Realm[] => [
  ...(users ? (['users'] as const) : []),
  ...(app_users ? (['app_users'] as const) : []),
]

// bodyOf is what is sent. A client secret that was not entered stays.
export function bodyOf({
  realms,
  client_secret: secret,
  remove_secret: remove,
  sort,
  ...rest
}: Values): CreateSignInProvider & Omit<UpdateSignInProvider, 'updated_at'> {
  const flag = (on: boolean) => (on ? 1 : 0)
  return {
    ...rest,
    ...(secret ? { client_secret: secret } : remove ? { client_secret: '' } : {}),
    users: flag(realms.includes('users')),
    app_users: flag(realms.includes('app_users')),
    trusts_address: flag(rest.trusts_address),
    ends_session: flag(rest.ends_session),
    status: flag(rest.status),
    sort: sort ?? 0,
  }
}

// atFields returns a failure with its faults at the fields of the form. called names a mapping by its number.
export function atFields(cause: Failure, called: (n: number) => string): Failure {
  const errors: Record<string, string> = {}
  for (const [name, text] of Object.entries(cause.errors)) {
    const [, n] = /^mappings\[(\d+)\]/.exec(name) ?? []
    const field = n === undefined ? (name === 'users' || name === 'app_users' ? 'realms' : name) : 'mappings'
    errors[field] ??= n === undefined ? text : `${called(Number(n) + 1)}: ${text}`
  }
  return new Failure(cause.status, cause.code, cause.message, cause.showType, errors, cause.requestId)
}

export const noMapping: Mapping = { claim: 'groups', value: '', role_ids: [], app_role_ids: [], dept_id: 0 }

// textOf is what a provider has said, as text.
export const textOf = (claims: Record<string, unknown>): string => JSON.stringify(claims, undefined, 2)
