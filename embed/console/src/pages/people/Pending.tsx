import { Tag, Tooltip } from 'antd'
import type { AppUser } from '../../api/types'
import { t } from '../../i18n'

// Pending marks an app user who has registered and has not confirmed the address yet.
export function Pending({ user }: { user: AppUser }) {
  if (user.pending !== 1) return null
  return (
    <Tooltip title={t('people.pending.text', { email: user.pending_email || '—' })}>
      <Tag color="warning">{t('people.pending')}</Tag>
    </Tooltip>
  )
}
