import { actingAs } from '../api/acting'
import { hasSignedOut, keptPrefix, mark } from '../api/session'

// Unsaved input of forms, in the storage of this browser. It survives a reload and a closed tab, belongs to
// one person, and ends with a sign-out. Secrets and files never get here: see Password and useDraft.

export type Kept = { at: number; version?: string; values: Record<string, unknown> }

const longest = 7 * 24 * 3600_000 // in milliseconds
const largest = 64 * 1024 // characters of one form
const most = 20 // forms

let person = 0 // 0: nothing is kept
let session = '' // in which the person is known

const nameOf = (key: string): string => `${keptPrefix}${person} ${key}`

function parse(text: string | null): Kept | undefined {
  try {
    const kept = JSON.parse(text ?? '') as Kept
    return Date.now() - kept.at < longest && typeof kept.values === 'object' ? kept : undefined
  } catch {
    return undefined
  }
}

// names are those of all forms in the storage, the oldest first.
const names = (): string[] =>
  Object.keys(localStorage)
    .filter((name) => name.startsWith(keptPrefix))
    .sort((a, b) => (parse(localStorage.getItem(a))?.at ?? 0) - (parse(localStorage.getItem(b))?.at ?? 0))

// keepFor begins to keep the input of a person, and deletes that of others and what is too old. Nothing is kept while
// acting as another user.
export function keepFor(id: number): void {
  if (actingAs) return
  person = id
  session = mark()
  for (const name of names()) if (!name.startsWith(nameOf('')) || !parse(localStorage.getItem(name))) localStorage.removeItem(name)
}

// keep stores the input of a form; an empty one is deleted, and so is one that is too large.
export function keep(key: string, values: Kept['values'], version?: string): void {
  if (!person || hasSignedOut() || (mark() && mark() !== session)) return // another person may have signed in in another tab
  const text = JSON.stringify({ at: Date.now(), version, values } satisfies Kept)
  forget(key)
  if (!Object.keys(values).length || text.length > largest) return
  try {
    localStorage.setItem(nameOf(key), text)
  } catch {
    return // the storage is full
  }
  for (const name of names().slice(0, -most)) localStorage.removeItem(name)
}

// recall returns the input of a form that was not saved.
export const recall = (key: string): Kept | undefined => (person ? parse(localStorage.getItem(nameOf(key))) : undefined)

export function forget(key: string): void {
  if (person) localStorage.removeItem(nameOf(key))
}
