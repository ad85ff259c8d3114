import type { Notice } from '../api/types'
import type { Unproven } from './unproven'

// What the user has to know, one line per kind: what has happened to the account, which the server stores, and states that
// last. A closed line is hidden in this tab until there is more of its kind.
export type Line = { key: string; stamp: string } & ({ notices: Notice[] } | { due: string } | { unproven: Unproven[] } | { parts: string[] })

export type Closed = Record<string, string> // stamps by key

// open are the notices that are not closed.
export const open = (notices: Notice[], of: Closed): Notice[] => notices.filter(({ at, kind }) => at > (of[kind] ?? ''))

// kindsOf are the lines of an account, the newest last.
export function kindsOf(notices: Notice[]): Line[] {
  const kinds = new Map<string, Notice[]>()
  for (const one of notices) {
    const alike = kinds.get(one.kind) ?? []
    kinds.delete(one.kind)
    kinds.set(one.kind, [...alike, one])
  }
  return [...kinds].map(([key, alike]) => ({ key, stamp: alike.at(-1)!.at, notices: alike }))
}

// readUntil is the time up to which all notices are closed; '' if there is none that the server can remove.
export function readUntil(notices: Notice[], of: Closed): string {
  const rest = open(notices, of)
  const read = notices.filter((one) => !rest.includes(one) && rest.every(({ at }) => at > one.at))
  return read.some(({ dismissible }) => dismissible) ? read.at(-1)!.at : ''
}
