// A flag as the editor holds it. The stored text is JSON, see the manual's chapter about
// feature flags; the server validates it.

export type Kind = 'boolean' | 'string' | 'number' | 'object'
export type Variant = { name: string; text: string } // the value as text: JSON, but a string as it is
export type Attribute = { name: string; values: string[] }
export type Rule = {
  name: string
  roles: number[]
  appRoles: number[]
  depts: number[]
  users: number[]
  appUsers: number[]
  attributes: Attribute[]
  from: string // RFC 3339; '' for none
  until: string
  split: boolean // whether percentages decide
  variant: string
  percent: Record<string, number>
}
export type Flag = { enabled: boolean; kind: Kind; variants: Variant[]; standard: string; off: string; rules: Rule[] } // off '' means standard

export const blank = '{"enabled":false,"variants":{"off":false,"on":true},"default":"off"}'

export const newRule = (variant: string): Rule => ({
  name: '',
  roles: [],
  appRoles: [],
  depts: [],
  users: [],
  appUsers: [],
  attributes: [],
  from: '',
  until: '',
  split: false,
  variant,
  percent: {},
})

type Stored = {
  enabled?: unknown
  variants?: Record<string, unknown>
  default?: string
  off?: string
  rules?: {
    name?: string
    roles?: number[]
    app_roles?: number[]
    depts?: number[]
    users?: number[]
    app_users?: number[]
    attributes?: Record<string, string[]>
    from?: string
    until?: string
    variant?: string
    percent?: Record<string, number>
  }[]
}

// read returns the flag of a text; undefined if it is not the JSON of one.
export function read(text: string): Flag | undefined {
  try {
    const o = JSON.parse(text || blank) as Stored
    const variants = Object.entries(o.variants ?? {})
    const kind = typeof variants[0]?.[1]
    if (kind !== 'boolean' && kind !== 'string' && kind !== 'number' && kind !== 'object') return undefined
    return {
      enabled: o.enabled === true,
      kind,
      variants: variants.map(([name, value]) => ({ name, text: typeof value === 'string' ? value : JSON.stringify(value) })),
      standard: o.default ?? '',
      off: o.off ?? '',
      rules: (o.rules ?? []).map((r) => ({
        name: r.name ?? '',
        roles: r.roles ?? [],
        appRoles: r.app_roles ?? [],
        depts: r.depts ?? [],
        users: r.users ?? [],
        appUsers: r.app_users ?? [],
        attributes: Object.entries(r.attributes ?? {}).map(([name, values]) => ({ name, values })),
        from: r.from ?? '',
        until: r.until ?? '',
        split: r.percent !== undefined,
        variant: r.variant ?? '',
        percent: r.percent ?? {},
      })),
    }
  } catch {
    return undefined
  }
}

// valueIn is the value of a variant; a text that does not fit the type is stored as it is, for
// the server to name it.
function valueIn(kind: Kind, text: string): unknown {
  if (kind === 'string') return text
  try {
    return JSON.parse(text) as unknown
  } catch {
    return text
  }
}

const some = <T>(list: T[]): T[] | undefined => (list.length ? list : undefined)

// write is the text to store.
export function write(flag: Flag): string {
  const names = new Set(flag.variants.map((v) => v.name))
  return JSON.stringify({
    enabled: flag.enabled,
    variants: Object.fromEntries(flag.variants.map((v) => [v.name, valueIn(flag.kind, v.text)])),
    default: flag.standard,
    off: flag.off || undefined,
    rules: some(
      flag.rules.map((r) => ({
        name: r.name || undefined,
        roles: some(r.roles),
        app_roles: some(r.appRoles),
        depts: some(r.depts),
        users: some(r.users),
        app_users: some(r.appUsers),
        attributes: r.attributes.length ? Object.fromEntries(r.attributes.map((a) => [a.name, a.values])) : undefined,
        from: r.from || undefined,
        until: r.until || undefined,
        variant: r.split ? undefined : r.variant,
        percent: r.split ? Object.fromEntries(Object.entries(r.percent).filter(([name]) => names.has(name))) : undefined,
      })),
    ),
  })
}

// rename gives a variant another name, also where it is used.
export function rename(flag: Flag, at: number, to: string): Flag {
  const was = flag.variants[at]!.name
  const now = (name: string) => (name === was ? to : name)
  return {
    ...flag,
    variants: flag.variants.map((v, i) => (i === at ? { ...v, name: to } : v)),
    standard: now(flag.standard),
    off: flag.off && now(flag.off),
    rules: flag.rules.map((r) => ({
      ...r,
      variant: now(r.variant),
      percent: Object.fromEntries(Object.entries(r.percent).map(([name, n]) => [now(name), n])),
    })),
  }
}

// retype gives the variants another type, with values to begin with.
export function retype(flag: Flag, kind: Kind): Flag {
  const first: Record<Kind, (name: string, i: number) => string> = {
    boolean: (_, i) => String(i > 0),
    string: (name) => name,
    number: (_, i) => String(i),
    object: () => '{}',
  }
  return { ...flag, kind, variants: flag.variants.map((v, i) => ({ ...v, text: first[kind](v.name, i) })) }
}

// sum is what the percentages of a rule add up to, in thousandths to be exact.
export const sum = (rule: Rule, variants: Variant[]): number => variants.reduce((all, v) => all + Math.round((rule.percent[v.name] ?? 0) * 1000), 0) / 1000
