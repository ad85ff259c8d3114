import { first as en } from './en/first'
import type { words as all } from './en'
import { first as zh } from './zh/first'

export type Key = keyof typeof all
export type Language = 'en' | 'zh'

const stored = localStorage.getItem('reeve.language')
export const language: Language = stored === 'en' || stored === 'zh' ? stored : navigator.language.startsWith('zh') ? 'zh' : 'en'

let words: Record<string, string> = language === 'zh' ? zh : en

// learn adds the words of the whole console to those of the sign-in page, which come
// with it. Nothing asks for a text before, so no text may be taken where a module is
// loaded.
export async function learn(): Promise<void> {
  words = language === 'zh' ? (await import('./zh')).words : (await import('./en')).words
}

// setLanguage takes effect everywhere at once, by loading the page anew.
export function setLanguage(to: Language): void {
  localStorage.setItem('reeve.language', to)
  location.reload()
}

// t is a text in the user's language; {name} stands for a value.
export function t(key: Key, values: Record<string, string | number> = {}): string {
  return (words[key] ?? key).replace(/\{(\w+)\}/g, (all, name: string) => (name in values ? String(values[name]) : all))
}

// maybe is the text of a key that may have none, like an error code of the server.
export function maybe(key: string): string | undefined {
  return words[key]
}
