import { areas, firsts, languages } from './languages'

// Text files by area, as types; "frame" contains the frame and the smaller pages. The last
// two exist only in languages that translate texts stored in English.
type Files = {
  frame: typeof import('./en')
  activity: typeof import('./en/activity')
  audit: typeof import('./en/audit')
  backups: typeof import('./en/backups')
  connect: typeof import('./en/connect')
  dashboard: typeof import('./en/dashboard')
  info: typeof import('./en/info')
  people: typeof import('./en/people')
  overlays: typeof import('./en/overlays')
  providers: typeof import('./en/providers')
  requests: typeof import('./en/requests')
  rights: typeof import('./en/rights')
  security: typeof import('./en/security')
  settings: typeof import('./en/settings')
  dicts: typeof import('./en/dicts')
  factor: typeof import('./en/factor')
  fields: typeof import('./en/fields')
  files: typeof import('./en/files')
  forgot: typeof import('./en/forgot')
  invite: typeof import('./en/invite')
  mail: typeof import('./en/mail')
  flags: typeof import('./en/flags')
  jobs: typeof import('./en/jobs')
  keys: typeof import('./en/keys')
  manual: typeof import('./en/manual')
  monitor: typeof import('./en/monitor')
  nodes: typeof import('./en/nodes')
  setup: typeof import('./en/setup')
  strength: typeof import('./en/strength')
  webhooks: typeof import('./en/webhooks')
  actions: Record<never, never>
  builtins: Record<never, never>
}
type KeyOf<A extends Area> = A extends Area ? { [N in keyof Files[A]]: keyof Files[A][N] }[keyof Files[A]] : never

export type Area = keyof Files
export type Key = KeyOf<Area>

const stored = localStorage.getItem('reeve.language') ?? ''
const own = navigator.language.split('-', 1)[0] ?? ''
export const language: string = [stored, own].find((code) => Object.hasOwn(languages, code)) ?? 'en'

const words: Record<string, string> = { ...firsts[language] }

// loadTexts loads the texts of areas; those of the sign-in page are bundled. No text is
// available before, so modules must not read texts when they are loaded.
export async function loadTexts(...names: Area[]): Promise<void> {
  const files = names.map((name) => areas[`./${language}/${name === 'frame' ? 'index' : name}.ts`])
  for (const area of await Promise.all(files.map((load) => load?.() ?? {}))) Object.assign(words, ...Object.values(area))
}

// setLanguage reloads the page, so that the language changes everywhere.
export function setLanguage(to: string): void {
  localStorage.setItem('reeve.language', to)
  location.reload()
}

// t returns a text in the user's language. {name} is replaced by a value, and
// {name|one|more} by the plural form for a value, in the order of kinds.
export function t(key: Key, values: Record<string, string | number> = {}): string {
  return (maybe(key) ?? key).replace(/\{(\w+)(?:\|(.*?))?\}/g, (all, name: string, words?: string) => {
    if (!Object.hasOwn(values, name)) return all
    const value = String(values[name])
    return words === undefined ? apart(value) : plural(value, words.split('|'))
  })
}

const rules = new Intl.PluralRules(language)

// kinds are the plural categories of the language; one and other in English.
const kinds = ['zero', 'one', 'two', 'few', 'many', 'other'].filter((kind) => rules.resolvedOptions().pluralCategories.includes(kind as Intl.LDMLPluralRule))

const plural = (value: string, words: string[]): string => words[kinds.indexOf(rules.select(Number(value)))] ?? words.at(-1) ?? ''

// apart isolates right-to-left values, so that they do not reorder the text around them.
function apart(value: string): string {
  return /[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc\u{10800}-\u{10fff}\u{1e800}-\u{1efff}]/u.test(value) ? `\u2068${value}\u2069` : value
}

// maybe returns the text of a key that may not exist, such as a user-defined one.
export function maybe(key: string): string | undefined {
  return Object.hasOwn(words, key) ? words[key] : undefined
}

// joined lists names.
export const joined = (names: string[]): string => names.join(t('list.separator'))

// given translates a stored built-in text, also one that ends with the title of a record after
// a colon. Texts that were changed are returned as they are.
export function given(text: string): string {
  const [, head = '', title = ''] = /^(.+?): (.+)$/.exec(text) ?? []
  const known = maybe(`given.${head}:`)
  return maybe(`given.${text}`) ?? (known ? known.replace('{title}', () => title) : text)
}
