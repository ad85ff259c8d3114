import { Alert, Button, Flex, Tag } from 'antd'
import { useState } from 'react'
import { Failure, post } from '../../api/request'
import { noticeShown } from '../../api/saved-notice'
import type { User } from '../../api/types'
import { t } from '../../i18n'
import { useMail } from '../../ui/useMail'

// Verify says whether the user's own email address is verified, and verifies it.
export function Verify({ user: { email, email_verified } }: { user: User }) {
  const mail = useMail()
  const [sent, setSent] = useState('') // address to which the link was sent
  const [busy, setBusy] = useState(false)
  if (!email || (!email_verified && !mail)) return null

  async function send() {
    setBusy(true)
    try {
      setSent((await post('/admin/email', {})).sent_to)
      noticeShown() // the address is shown
    } catch (cause) {
      if (!(cause instanceof Failure)) throw cause // already shown
    } finally {
      setBusy(false)
    }
  }

  const shown = email_verified ? (
    <Tag color="success" style={{ margin: 0 }}>
      {t('account.verified')}
    </Tag>
  ) : sent === email ? (
    <Alert type="success" showIcon title={t('account.verify.sent', { email })} />
  ) : (
    <Flex gap={8} align="center" wrap>
      <span className="second">{t('account.verify.not')}</span>
      <Button size="small" loading={busy} onClick={() => void send()}>
        {t('account.verify')}
      </Button>
    </Flex>
  )
  return (
    <div role="status" style={{ margin: '-16px 0 24px' }}>
      {shown}
    </div>
  )
}
