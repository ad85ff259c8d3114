import { store } from '../ui/store'
import type { Unproven } from './unproven'

const unproven = store<Unproven[]>([])

// setUnproven keeps what the bell, which is on every page, has found.
export function setUnproven(targets: Unproven[]): void {
  if (JSON.stringify(targets) !== JSON.stringify(unproven.get())) unproven.set(targets)
}

// useUnproven returns the targets without a recent copy that is proven, if the user may see backups.
export const useUnproven = unproven.use
