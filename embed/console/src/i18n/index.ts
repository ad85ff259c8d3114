import { en } from './en'
import { zh } from './zh'

export type Key = keyof typeof en
export type Language = 'en' | 'zh'

const stored = localStorage.getItem('reeve.language')
export const language: Language = stored === 'en' || stored === 'zh' ? stored : navigator.language.startsWith('zh') ? 'zh' : 'en'

const words: Record<string, string> = language === 'zh' ? zh : en

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
