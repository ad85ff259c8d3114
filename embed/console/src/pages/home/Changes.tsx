import { useNavigate } from 'react-router'
import { t } from '../../i18n'
import { EntryList } from '../../ui/log/EntryList'
import { useLog } from '../../ui/log/useLog'
import { Half } from './Recent'

const shown = 8

// Changes are the newest entries of the change log, as sentences.
export function Changes() {
  const navigate = useNavigate()
  const log = useLog('/system/audit')
  const newest = { ...log, entries: log.entries?.slice(0, shown), total: undefined, more: undefined }
  return (
    <Half title={t('home.changes')} to="/system/audit" loading={!log.entries}>
      <EntryList log={newest} open={(seq) => void navigate(`/system/audit/${seq}`)} empty={t('audit.empty')} />
    </Half>
  )
}
