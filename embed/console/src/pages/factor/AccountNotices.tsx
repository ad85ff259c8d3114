import { Alert, Button, Flex } from 'antd'
import { useState } from 'react'
import { Link } from 'react-router'
import { Failure, put } from '../../api/request'
import { mark } from '../../api/session'
import type { Notice } from '../../api/types'
import { useAccount } from '../../app/account'
import { type Key, maybe, t } from '../../i18n'
import { Time } from '../../ui/Time'
import { inWords } from '../session-columns'

// said is what a notice tells.
function said(notice: Notice): string {
  const { kind, by, reason, ip, provider_name: provider } = notice
  switch (kind) {
    case 'acted_as':
      return by ? t('notice.acted_as', { by, reason }) : t('notice.acted_as.deleted', { reason })
    case 'new_device':
    case 'new_network':
      return t(`notice.${kind}${provider && '.with'}` as Key, { device: inWords(notice) || t('account.device.unknown'), ip, provider })
    default:
      return maybe(`notice.${kind}`) ?? kind
  }
}

const closedKey = 'reeve.notices_closed'

// closedUntil is the time of the last notice that was closed in this tab since the sign-in; '' for none.
function closedUntil(): string {
  const [session, at] = (sessionStorage.getItem(closedKey) ?? '').split(' ')
  return session === mark() ? (at ?? '') : ''
}

// AccountNotices tells what has happened to the account while the user may not have looked. Closed notices that the server
// keeps are hidden in this tab.
export function AccountNotices(_: { onClose: () => void }) {
  const { info, reload } = useAccount()
  const [closed, setClosed] = useState(closedUntil)
  const [failures, setFailures] = useState(0)
  const [whole, setWhole] = useState(false)
  const shown = info.notices.filter(({ at }) => at > closed)
  const last = shown.at(-1)
  if (!last) return null
  async function close(until: string) {
    document.getElementById('main')?.focus({ preventScroll: true })
    try {
      if (shown.some(({ dismissible }) => dismissible)) await put('/admin/account/notice', { until })
    } catch (cause) {
      if (!(cause instanceof Failure)) throw cause // already shown
      return setFailures(failures + 1)
    }
    sessionStorage.setItem(closedKey, `${mark()} ${until}`)
    setClosed(until)
    await reload()
  }
  return (
    <Alert
      key={`${last.at} ${failures}`} // another one, since the library hides what is closed
      type="warning"
      showIcon
      closable={{ onClose: () => void close(last.at), 'aria-label': t('close') }}
      style={{ marginBottom: 16 }}
      title={
        <Flex wrap align="center" gap="0 8px">
          <span style={{ overflowWrap: 'anywhere', minWidth: 0 }}>{t('notice.latest', { n: shown.length, text: said(last) })}</span>
          <Button type="link" size="small" style={{ padding: 0 }} aria-expanded={whole} onClick={() => setWhole(!whole)}>
            {t(whole ? 'notice.less' : 'notice.more')}
          </Button>
        </Flex>
      }
      description={
        whole && (
          <>
            {shown.map((notice) => (
              <div key={`${notice.at} ${notice.kind} ${notice.device_id}`} style={{ overflowWrap: 'anywhere' }}>
                {said(notice)}{' '}
                <span className="second">
                  <Time at={notice.at} />
                </span>
              </div>
            ))}
            {shown.some(({ dismissible }) => !dismissible) && (
              <div className="second" style={{ marginTop: 4 }}>
                {t('notice.stays')}
              </div>
            )}
            {shown.some(({ device_id }) => device_id > 0) && (
              <Link to="/account/security#devices" style={{ display: 'inline-block', marginTop: 8, textDecoration: 'underline' }}>
                {t('notice.devices')}
              </Link>
            )}
          </>
        )
      }
    />
  )
}
