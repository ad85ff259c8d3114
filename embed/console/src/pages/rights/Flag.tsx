import { t } from '../../i18n'
import { Toggle } from '../../ui/Toggle'

type Props = {
  on: 0 | 1
  of: string // name of the record
  label?: string
  reached?: boolean // whether Tab reaches it
  turn?: (to: 0 | 1) => Promise<void> // undefined without permission
}

// Flag is a field of a record of a list that is on or off, and switches it.
export function Flag({ on, of, label = t('enabled'), reached = true, turn }: Props) {
  if (!turn) return t(on ? 'yes' : 'no')
  return <Toggle on={on === 1} tabIndex={reached ? 0 : -1} label={() => `${label}: ${of}`} turn={(to) => turn(to ? 1 : 0)} />
}
