import type { BackupTarget } from '../api/types'

// Unproven is a target without a recent copy that is proven. since is the time of the last one; null for none.
export type Unproven = { name: string; since: string | null }

// unprovenOf are the targets that need attention. What a command takes is not read back: there, a copy counts once it was sent.
export const unprovenOf = (targets: BackupTarget[]): Unproven[] =>
  targets.filter(({ unproven }) => unproven === 1).map(({ name, kind, proven_at, newest_at }) => ({ name, since: kind === 'command' ? newest_at : proven_at }))
