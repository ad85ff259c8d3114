import { Alert } from 'antd'
import { Link } from 'react-router'
import { useUnproven } from '../../app/useUnproven'
import { t } from '../../i18n'
import { Time } from '../../ui/Time'

// BackupNotice says which targets of backups have no recent copy that is proven, if the user may see backups.
export function BackupNotice() {
  const targets = useUnproven()
  if (targets.length === 0) return null
  return (
    <Alert
      type="warning"
      showIcon
      title={t('home.unproven')}
      description={targets.map(({ name, since }) => (
        <div key={name}>
          {t(since ? 'home.unproven.since' : 'home.unproven.never', { target: name === 'local' ? t('home.unproven.local') : name })}{' '}
          {since && <Time at={since} />}
        </div>
      ))}
      action={<Link to="/system/backup">{t('home.unproven.open')}</Link>}
    />
  )
}
