import { WarningFilled } from '@ant-design/icons'
import { t } from '../i18n'
import { useUnproven } from './useUnproven'

// BackupMark marks the menu entry of backups while a target has no recent copy that is proven.
export function BackupMark(_: { onClose: () => void }) {
  if (useUnproven().length === 0) return null
  return <WarningFilled className="tab-mark" aria-label={t('menu.unproven')} title={t('menu.unproven')} style={{ color: 'var(--ant-color-warning)' }} />
}
