import { Failure } from '../../api/request'
import type { CreateSignInProvider, Mapping, Provider, UpdateSignInProvider } from '../../api/types'

export type Kind = NonNullable<CreateSignInProvider['kind']>

// Usual are the fields of a directory that have a usual value.
type Usual = Pick<Provider, 'user_filter' | 'id_attribute' | 'username_attribute' | 'name_attribute' | 'email_attribute' | 'group_filter'>

type Preset = { issuer: string; scopes: string[] } & Usual

const standard = ['profile', 'email']

const noUsual: Usual = { user_filter: '', id_attribute: '', username_attribute: '', name_attribute: '', email_attribute: '', group_filter: '' }

const openID = (issuer: string, scopes = standard): Preset => ({ issuer, scopes, ...noUsual })

// presets are what is known of each kind of provider. What has to be replaced in an issuer is in capital letters.
export const presets: Record<Kind, Preset> = {
  google: openID('https://accounts.google.com'),
  microsoft: openID('https://login.microsoftonline.com/TENANT-ID/v2.0'),
  github: openID('https://github.com', ['read:user', 'user:email']),
  gitlab: openID('https://gitlab.com'),
  keycloak: openID('https://HOST/realms/REALM'),
  authentik: openID('https://HOST/application/o/SLUG/'),
  openid: openID(''),
  ldap: {
    issuer: '',
    scopes: [],
    user_filter: '(&(objectClass=person)(uid={username}))',
    id_attribute: 'entryUUID',
    username_attribute: 'uid',
    name_attribute: 'cn',
    email_attribute: 'mail',
    group_filter: '(&(objectClass=groupOfNames)(member={dn}))',
  },
  active_directory: {
    issuer: '',
    scopes: [],
    user_filter: '(&(objectCategory=person)(objectClass=user)(|(sAMAccountName={username})(userPrincipalName={username})))',
    id_attribute: 'objectGUID',
    username_attribute: 'sAMAccountName',
    name_attribute: 'displayName',
    email_attribute: 'mail',
    group_filter: '(&(objectClass=group)(member:1.2.840.113556.1.4.1941:={dn}))',
  },
}

export const isDirectory = (kind?: string): boolean => kind === 'ldap' || kind === 'active_directory'

export const kinds = Object.keys(presets) as Kind[]

// isTemplate reports whether an issuer still has something to replace.
export const isTemplate = (issuer: string): boolean => /TENANT-ID|\/\/HOST\/|\/REALM$|\/SLUG\/$/.test(issuer)

export const presetFields = Object.keys(presets.openid) as (keyof Preset)[]

const same = (a: string | string[], b: string | string[]) => a.length === b.length && [...a].every((one) => b.includes(one))

// filled returns what choosing a kind fills in. Values that were entered stay.
export function filled(kind: Kind, now: Partial<Preset>): Partial<Preset> {
  const untouched = (name: keyof Preset) => {
    const value = now[name] ?? ''
    return value.length === 0 || Object.values(presets).some((one) => same(one[name], value))
  }
  return Object.fromEntries(presetFields.filter(untouched).map((name) => [name, presets[kind][name]]))
}

// Realm is whom a provider signs in.
export type Realm = 'users' | 'app_users'

export type Values = Pick<Provider, 'name' | 'title' | 'client_id' | 'domains' | 'factor_values' | 'mappings'> &
  Pick<Provider, 'servers' | 'certificates' | 'bind_dn' | 'base_dn' | 'group_base_dn'> &
  Preset & {
    kind: Kind
    creates: NonNullable<CreateSignInProvider['creates']>
    realms: Realm[]
    client_secret?: string
    remove_secret: boolean
    trusts_address: boolean
    ends_session: boolean
    plain: boolean
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
  ...{ servers: [], plain: false, certificates: '', bind_dn: '', base_dn: '', group_base_dn: '' },
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
  servers: of.servers,
  plain: of.plain === 1,
  certificates: of.certificates,
  bind_dn: of.bind_dn,
  base_dn: of.base_dn,
  user_filter: of.user_filter,
  id_attribute: of.id_attribute,
  username_attribute: of.username_attribute,
  name_attribute: of.name_attribute,
  email_attribute: of.email_attribute,
  group_base_dn: of.group_base_dn,
  group_filter: of.group_filter,
  mappings: of.mappings,
  status: of.status === 1,
  sort: of.sort,
})

export const realmsOf = ({ users, app_users }: Pick<Provider, Realm>): Realm[] => [
  ...(users ? (['users'] as const) : []),
  ...(app_users ? (['app_users'] as const) : []),
]

// What the form does not show for a kind is empty.
const noOpenID = { issuer: '', client_id: '', scopes: [], factor_values: [], ends_session: 0 as const }
export const noDirectory = { servers: [], plain: 0 as const, certificates: '', bind_dn: '', base_dn: '', group_base_dn: '', ...noUsual }

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
    plain: flag(rest.plain),
    status: flag(rest.status),
    sort: sort ?? 0,
    ...(isDirectory(rest.kind) ? noOpenID : noDirectory),
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
