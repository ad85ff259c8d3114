import { Alert, Flex, Typography } from 'antd'
import { type ReactNode, useRef } from 'react'
import { Link, useSearchParams } from 'react-router'
import { useAccount } from '../../app/account'
import { t } from '../../i18n'
import { useGet } from '../../ui/useGet'
import { OwnProviders } from '../connect/OwnProviders'
import { dueText } from '../factor/FactorDue'
import { SecondFactor } from '../factor/SecondFactor'
import { Devices } from './Devices'
import { PasswordForm } from './PasswordForm'
import { RecentSignIns } from './RecentSignIns'
import { useAnchor } from './useAnchor'

// Security is how the user signs in, and where the user is signed in. The hash of the URL opens a section.
export function Security() {
  const page = useRef<HTMLDivElement>(null)
  useAnchor(page)
  const { info, reload } = useAccount()
  const due = info.factor_due
  const keys = useGet('/admin/account/key', { pageSize: 1 }).data?.total
  const providers = useGet('/auth/provider').data?.data
  const connected = useGet('/admin/account/provider', { pageSize: 100 })
  const own = connected.data?.data
  const arrived = useSearchParams()[0].has('connected')
  return (
    <Flex ref={page} vertical gap={32} style={{ paddingTop: 8 }}>
      <Section id="password" title={t('sign_in.password')}>
        {info.has_password ? <PasswordForm /> : <span>{t('password.none')}</span>}
      </Section>
      <Section id="factor" title={t('security.factor')}>
        {due && <Alert type="warning" showIcon title={dueText(due)} style={{ marginBottom: 16 }} />}
        <SecondFactor level={3} onChanged={reload} />
      </Section>
      {providers && own && (providers.length > 0 || own.length > 0 || arrived) && (
        <Section id="providers" title={t('security.providers')}>
          <OwnProviders own={own} choices={providers} reload={connected.reload} />
        </Section>
      )}
      <Section id="devices" title={t('security.devices')}>
        <Devices />
      </Section>
      {keys !== undefined && keys > 0 && (
        <Section id="keys" title={t('menu.admin.key')}>
          <Flex vertical gap={12} align="start">
            <span>{t('security.keys', { n: keys })}</span>
            <Link to="/account/keys" style={{ textDecoration: 'underline' }}>
              {t('security.keys.manage')}
            </Link>
          </Flex>
        </Section>
      )}
      <Section id="sign-ins" title={t('security.recent')}>
        <RecentSignIns />
      </Section>
    </Flex>
  )
}

function Section({ id, title, children }: { id: string; title: string; children: ReactNode }) {
  return (
    <section id={id} className="account-part" aria-labelledby={`${id}-title`} tabIndex={-1}>
      <Typography.Title id={`${id}-title`} level={2} style={{ fontSize: 18, margin: '0 0 12px' }}>
        {title}
      </Typography.Title>
      {children}
    </section>
  )
}
