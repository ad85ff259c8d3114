import { Alert, Button, Flex, Skeleton, Typography } from 'antd'
import { type ReactNode, useState } from 'react'
import { post } from '../../api/request'
import { t } from '../../i18n'
import { useAction } from '../../ui/useAction'
import { useGet } from '../../ui/useGet'
import { AuthenticatorApp } from './AuthenticatorApp'
import { Passkeys } from './Passkeys'
import { Recovery } from './Recovery'

// few is the number of recovery codes at which new ones are suggested.
const few = 3

// SecondFactor sets up and removes the user's own passkeys and authenticator app, and replaces the recovery codes. level is
// that of its headings.
export function SecondFactor({ level = 2, onChanged }: { level?: 2 | 3; onChanged?: () => Promise<void> }) {
  const { data: app, reload: reloadApp } = useGet('/admin/account/totp')
  const { data: passkeys, reload: reloadPasskeys } = useGet('/admin/account/passkey', { pageSize: 100 })
  const { data: options } = useGet('/admin/account/passkey-options')
  const { confirm } = useAction()
  const [codes, setCodes] = useState<string[]>([])

  const reload = async () => void (await Promise.all([reloadApp(), reloadPasskeys(), onChanged?.()]))

  async function renew() {
    if (!(await confirm({ title: t('factor.renew.sure'), text: t('factor.renew.text'), ok: t('factor.renew') }))) return
    setCodes((await post('/admin/account/recovery')).recovery_codes)
    await reloadApp()
  }

  if (!app || !passkeys || !options) return <Skeleton active title={false} />
  const left = app.recovery_codes
  return (
    <Flex vertical gap={level === 2 ? 32 : 24} style={{ maxWidth: 560 }}>
      <Typography.Text type="secondary">{t('factor.about')}</Typography.Text>
      <Section level={level} title={t('passkey.title')}>
        <Passkeys passkeys={passkeys.data} options={options.public_key} only={app.enabled === 0} reload={reload} onCodes={setCodes} />
      </Section>
      <Section level={level} title={t('factor.app')}>
        <AuthenticatorApp state={app} only={passkeys.total === 0} reload={reload} onCodes={setCodes} />
      </Section>
      {(app.enabled === 1 || passkeys.total > 0) && (
        <Section level={level} title={t('factor.recovery')}>
          {left > few ? (
            <span>{t('factor.left', { n: left })}</span>
          ) : (
            <Alert type="warning" showIcon title={`${t('factor.left', { n: left })} ${t('factor.few')}`} />
          )}
          <Button onClick={() => void renew()}>{t('factor.renew')}</Button>
        </Section>
      )}
      <Recovery codes={codes} onClose={() => setCodes([])} />
    </Flex>
  )
}

function Section({ level, title, children }: { level: 2 | 3; title: string; children: ReactNode }) {
  return (
    <Flex component="section" vertical gap={12} align="start">
      <Typography.Title level={level} style={{ fontSize: 16, margin: 0 }}>
        {title}
      </Typography.Title>
      {children}
    </Flex>
  )
}
