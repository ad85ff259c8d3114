import type { LogEntry } from '../../api/types'
import { Icon } from '../icons'
import { groups } from './words'

// named are the icons of the menu for the kind of record that an entry is about.
const named: Record<string, string> = {
  user: 'User',
  app_user: 'Contacts',
  role: 'Idcard',
  app_role: 'Idcard',
  permission: 'SafetyCertificate',
  app_permission: 'SafetyCertificate',
  dept: 'Apartment',
  setting: 'Setting',
  setting_group: 'Setting',
  dict: 'Book',
  dict_item: 'Book',
  file: 'File',
  file_group: 'Folder',
  custom_field: 'Control',
  key: 'Key',
  webhook: 'Api',
  session: 'Login',
  provider: 'Login',
  identity: 'Login',
  mail: 'Mail',
}
const ofAction: Record<string, string> = { backup: 'Save', restore: 'Save', start: 'InfoCircle', denied: 'SafetyCertificate' }

// EntryIcon shows at a glance which kind of record an entry is about.
export function EntryIcon({ entry }: { entry: LogEntry }) {
  const name = ofAction[entry.action ?? ''] ?? named[groups(entry)[0]?.[0]?.collection ?? ''] ?? 'History'
  return (
    <span aria-hidden className="second">
      <Icon name={`${name}Outlined`} />
    </span>
  )
}
