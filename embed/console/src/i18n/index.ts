import { first as en } from './en/first'
import { first as zh } from './zh/first'

type Words<A extends Area> = Awaited<ReturnType<(typeof areas)[A]['en']>>
type KeyOf<A extends Area> = A extends Area ? { [N in keyof Words<A>]: keyof Words<A>[N] }[keyof Words<A>] : never

export type Key = KeyOf<Area>
export type Language = 'en' | 'zh'

const stored = localStorage.getItem('reeve.language')
export const language: Language = stored === 'en' || stored === 'zh' ? stored : navigator.language.startsWith('zh') ? 'zh' : 'en'

// areas are the words of parts of the console, each loaded with what first uses it.
// "frame" is what the frame and the smaller pages say.
const areas = {
  frame: { en: () => import('./en'), zh: () => import('./zh') },
  dashboard: { en: () => import('./en/dashboard'), zh: () => import('./zh/dashboard') },
  info: { en: () => import('./en/info'), zh: () => import('./zh/info') },
  people: { en: () => import('./en/people'), zh: () => import('./zh/people') },
  rights: { en: () => import('./en/rights'), zh: () => import('./zh/rights') },
  actions: { en: async () => ({}), zh: () => import('./zh/actions') },
  settings: { en: () => import('./en/settings'), zh: () => import('./zh/settings') },
  builtins: { en: async () => ({}), zh: () => import('./zh/builtins') },
  dicts: { en: () => import('./en/dicts'), zh: () => import('./zh/dicts') },
  files: { en: () => import('./en/files'), zh: () => import('./zh/files') },
  jobs: { en: () => import('./en/jobs'), zh: () => import('./zh/jobs') },
  monitor: { en: () => import('./en/monitor'), zh: () => import('./zh/monitor') },
}

export type Area = keyof typeof areas

const words: Record<string, string> = { ...(language === 'zh' ? zh : en) }

// learn adds the words of areas to those of the sign-in page, which come with it.
// Nothing asks for a text before, so no text may be taken where a module is loaded.
export async function learn(...names: Area[]): Promise<void> {
  for (const area of await Promise.all(names.map((name) => areas[name][language]()))) Object.assign(words, ...Object.values(area))
}

// setLanguage takes effect everywhere at once, by loading the page anew.
export function setLanguage(to: Language): void {
  localStorage.setItem('reeve.language', to)
  location.reload()
}

// t is a text in the user's language; {name} stands for a value, and {name|one|more}
// for the first of two words where the value is 1, else for the second.
export function t(key: Key, values: Record<string, string | number> = {}): string {
  return (maybe(key) ?? key).replace(/\{(\w+)(?:\|(.*?)\|(.*?))?\}/g, (all, name: string, one?: string, more?: string) => {
    if (!Object.hasOwn(values, name)) return all
    const value = String(values[name])
    return one === undefined ? apart(value) : value === '1' ? one : (more ?? '')
  })
}

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
