import { Flex, Typography } from 'antd'
import { type ReactNode, useRef } from 'react'
import { t } from '../../i18n'
import { SecondFactor } from '../factor/SecondFactor'
import { Devices } from './Devices'
import { PasswordForm } from './PasswordForm'
import { RecentSignIns } from './RecentSignIns'
import { useAnchor } from './useAnchor'

// Security is how the user signs in, and where the user is signed in. The hash of the URL opens a section.
export function Security() {
  const page = useRef<HTMLDivElement>(null)
  useAnchor(page)
  return (
    <Flex ref={page} vertical gap={32} style={{ paddingTop: 8 }}>
      <Section id="password" title={t('sign_in.password')}>
        <PasswordForm />
      </Section>
      <Section id="factor" title={t('security.factor')}>
        <SecondFactor level={3} />
      </Section>
      <Section id="devices" title={t('security.devices')}>
        <Devices />
      </Section>
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
