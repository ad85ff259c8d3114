import { useLive } from '../ui/useLive'
import { useAccount } from './account'
import { type Unproven, unprovenOf } from './unproven'

// useUnproven returns the targets without a recent copy that is proven, if the user may see backups.
export function useUnproven(): Unproven[] {
  const { may } = useAccount()
  const { data } = useLive(may('system.copy.query') ? '/system/backup-target' : '', 120)
  return unprovenOf(data?.data ?? [])
}
