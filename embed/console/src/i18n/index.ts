import { areas, firsts, languages } from './languages'

// The files of words by area, as types; "frame" is what the frame and the smaller pages
// say. The last two are of languages that translate what the server keeps in English.
type Files = {
  frame: typeof import('./en')
  dashboard: typeof import('./en/dashboard')
  info: typeof import('./en/info')
  people: typeof import('./en/people')
  rights: typeof import('./en/rights')
  settings: typeof import('./en/settings')
  dicts: typeof import('./en/dicts')
  files: typeof import('./en/files')
  jobs: typeof import('./en/jobs')
  monitor: typeof import('./en/monitor')
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

// learn adds the words of areas to those of the sign-in page, which come with it.
// Nothing asks for a text before, so no text may be taken where a module is loaded.
export async function learn(...names: Area[]): Promise<void> {
  const files = names.map((name) => areas[`./${language}/${name === 'frame' ? 'index' : name}.ts`])
  for (const area of await Promise.all(files.map((load) => load?.() ?? {}))) Object.assign(words, ...Object.values(area))
}

// setLanguage takes effect everywhere at once, by loading the page anew.
export function setLanguage(to: string): void {
  localStorage.setItem('reeve.language', to)
  location.reload()
}

// t is a text in the user's language; {name} stands for a value, and {name|one|more}
// for the one of the words that goes with the value, in the order of kinds.
export function t(key: Key, values: Record<string, string | number> = {}): string {
  return (maybe(key) ?? key).replace(/\{(\w+)(?:\|(.*?))?\}/g, (all, name: string, words?: string) => {
    if (!Object.hasOwn(values, name)) return all
    const value = String(values[name])
    return words === undefined ? apart(value) : plural(value, words.split('|'))
  })
}

const rules = new Intl.PluralRules(language)

// kinds are the numbers that the language tells apart: in English one and other.
const kinds = ['zero', 'one', 'two', 'few', 'many', 'other'].filter((kind) => rules.resolvedOptions().pluralCategories.includes(kind as Intl.LDMLPluralRule))

const plural = (value: string, words: string[]): string => words[kinds.indexOf(rules.select(Number(value)))] ?? words.at(-1) ?? ''

// apart keeps a value that is written from right to left from turning the words around it.
function apart(value: string): string {
  return /[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc\u{10800}-\u{10fff}\u{1e800}-\u{1efff}]/u.test(value) ? `\u2068${value}\u2069` : value
}

// maybe is the text of a key that may have none, like one that somebody made up.
export function maybe(key: string): string | undefined {
  return Object.hasOwn(words, key) ? words[key] : undefined
}

// given is a text of a record that the program has made, in the user's language: what
// somebody has written there instead stands as it is.
export const given = (text: string): string => maybe(`given.${text}`) ?? text
