import { Alert } from 'antd'
import { Link } from 'react-router'
import { put } from '../../api/request'
import type { Notice } from '../../api/types'
import { useAccount } from '../../app/account'
import { maybe, t } from '../../i18n'
import { Time } from '../../ui/Time'
import { shortly } from '../session-columns'

// said is what a notice tells.
function said(notice: Notice): string {
  const { kind, by, reason, ip } = notice
  switch (kind) {
    case 'acted_as':
      return by ? t('notice.acted_as', { by, reason }) : t('notice.acted_as.deleted', { reason })
    case 'new_device':
    case 'new_network':
      return t(`notice.${kind}`, { device: shortly(notice) || t('notice.unknown'), ip })
    default:
      return maybe(`notice.${kind}`) ?? kind
  }
}

// AccountNotices tells what has happened to the account while the user may not have looked.
export function AccountNotices({ onClose }: { onClose: () => void }) {
  const { info, reload } = useAccount()
  const last = info.notices.at(-1)
  if (!last) return null
  async function dismiss(until: string) {
    onClose()
    await put('/admin/account/notice', { until })
    await reload()
  }
  return (
    <Alert
      type="warning"
      showIcon
      closable={{ onClose: () => void dismiss(last.at), 'aria-label': t('close') }}
      style={{ marginBottom: 16 }}
      title={t('notice.title')}
      description={
        <>
          {info.notices.map((notice) => (
            <div key={`${notice.at} ${notice.kind} ${notice.device_id}`} style={{ overflowWrap: 'anywhere' }}>
              {said(notice)}{' '}
              <span className="second">
                <Time at={notice.at} />
              </span>
            </div>
          ))}
          {info.notices.some(({ device_id }) => device_id > 0) && (
            <Link to="/account/security#devices" style={{ display: 'inline-block', marginTop: 8, textDecoration: 'underline' }}>
              {t('notice.devices')}
            </Link>
          )}
        </>
      }
    />
  )
}
