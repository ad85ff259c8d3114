import type { Setting } from '../../api/types'
import { keep as keepInput, recall } from '../../ui/kept'
import { store } from '../../ui/store'

// Unsaved values by setting ID. They survive a change of the page, and a reload, except typed secrets: these stay in
// memory only.

export type Draft = {
  value: string
  base: string // the setting's stamp when it was typed
  secret?: true
}

export type Drafts = ReadonlyMap<number, Draft>

const drafts = store<Drafts>(new Map())
const since = store(0) // when restored drafts were typed; 0 if there are none
const key = '/system/setting-value' // name of the kept values

// stamp identifies the value of a setting that was seen. Values of secrets are never seen.
export function stamp(s: Setting): string {
  return s.type === 'secret' ? s.updated_at : s.values
}

function warn(e: BeforeUnloadEvent): void {
  e.preventDefault()
}

function change(edit: (next: Map<number, Draft>) => void): void {
  const next = new Map(drafts.get())
  edit(next)
  const all = [...next]
  if (all.some(([, { secret }]) => secret)) window.addEventListener('beforeunload', warn)
  else window.removeEventListener('beforeunload', warn)
  keepInput(key, Object.fromEntries(all.filter(([, { secret }]) => !secret)))
  if (!next.size) since.set(0)
  drafts.set(next)
}

// restore brings back the drafts of an earlier page.
export function restore(): void {
  const kept = drafts.get().size ? undefined : recall(key)
  if (!kept) return
  drafts.set(new Map(Object.entries(kept.values).map(([id, draft]) => [Number(id), draft as Draft])))
  since.set(kept.at)
}

// write records a draft; undefined or the stored value removes it.
export function write(s: Setting, value: string | undefined): void {
  change((next) => {
    if (value === undefined || (s.type !== 'secret' && value === s.values)) next.delete(s.id)
    else next.set(s.id, { value, base: next.get(s.id)?.base ?? stamp(s), ...(s.type === 'secret' && { secret: true }) })
  })
}

// keep keeps a draft although the setting was changed since.
export function keep(s: Setting): void {
  change((next) => {
    const draft = next.get(s.id)
    if (draft) next.set(s.id, { ...draft, base: stamp(s) })
  })
}

// drop discards drafts, except those typed after `of` was taken.
export function drop(of: Drafts): void {
  change((next) =>
    of.forEach((draft, id) => {
      if (next.get(id) === draft) next.delete(id)
    }),
  )
}

// settle discards drafts of settings that are gone or already have that value.
export function settle(settings: Setting[]): void {
  const there = new Map(settings.map((s) => [s.id, s]))
  const over = [...drafts.get()].filter(([id, draft]) => {
    const s = there.get(id)
    return !s || (s.type !== 'secret' && s.values === draft.value)
  })
  if (over.length) change((next) => over.forEach(([id]) => void next.delete(id)))
}

export const now = drafts.get
export const useDrafts = drafts.use
export const useSince = since.use
