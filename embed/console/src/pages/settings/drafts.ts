import type { Setting } from '../../api/types'
import { store } from '../../ui/store'

// What has been typed and not saved, by the id of its setting. It outlives the page,
// so that one can look something up elsewhere, and not the tab: a secret that was typed
// is kept in memory alone.

export type Draft = {
  value: string
  base: string // the stamp of the setting when it was typed
}

export type Drafts = ReadonlyMap<number, Draft>

const drafts = store<Drafts>(new Map())

// stamp tells whether the value of a setting is still the one that was seen. That of a
// secret is never seen.
export function stamp(s: Setting): string {
  return s.type === 'secret' ? s.updated_at : s.values
}

function warn(e: BeforeUnloadEvent): void {
  e.preventDefault()
}

function change(edit: (next: Map<number, Draft>) => void): void {
  const next = new Map(drafts.get())
  edit(next)
  if (next.size) window.addEventListener('beforeunload', warn)
  else window.removeEventListener('beforeunload', warn)
  drafts.set(next)
}

// write notes what a setting is to become; undefined, or what it is already, is no draft.
export function write(s: Setting, value: string | undefined): void {
  change((next) => {
    if (value === undefined || (s.type !== 'secret' && value === s.values)) next.delete(s.id)
    else next.set(s.id, { value, base: next.get(s.id)?.base ?? stamp(s) })
  })
}

// keep holds on to a draft although the setting was changed since.
export function keep(s: Setting): void {
  change((next) => {
    const draft = next.get(s.id)
    if (draft) next.set(s.id, { ...draft, base: stamp(s) })
  })
}

// drop forgets drafts; those that were typed anew since `of` was taken stay.
export function drop(of: Drafts): void {
  change((next) =>
    of.forEach((draft, id) => {
      if (next.get(id) === draft) next.delete(id)
    }),
  )
}

// settle forgets the drafts of settings that are gone or hold the same by now.
export function settle(settings: Setting[]): void {
  const there = new Map(settings.map((s) => [s.id, s]))
  change((next) =>
    next.forEach((draft, id) => {
      const s = there.get(id)
      if (!s || (s.type !== 'secret' && s.values === draft.value)) next.delete(id)
    }),
  )
}

export const now = drafts.get
export const useDrafts = drafts.use
