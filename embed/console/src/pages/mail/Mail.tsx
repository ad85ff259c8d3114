import { SendOutlined, SettingOutlined } from '@ant-design/icons'
import { Alert, Button, Flex, Skeleton, Tabs, Typography } from 'antd'
import { lazy, Suspense } from 'react'
import { useNavigate, useParams } from 'react-router'
import { useAccount } from '../../app/account'
import { t } from '../../i18n'
import { useMail } from '../../ui/useMail'
import { Outbox } from './Outbox'
import { useTestMail } from './useTestMail'

const Templates = lazy(async () => ({ default: (await import('./Templates')).Templates }))

const settings = '/system/setting/mail'

// MailPage is what this server mails: the outbox and the templates. The open part is in the URL.
export function MailPage() {
  const { may } = useAccount()
  const navigate = useNavigate()
  const on = useMail()
  const test = useTestMail()
  const part = useParams()['*'] ?? ''
  const configures = may('system.setting.query')
  return (
    <>
      <Flex gap={8} align="center" wrap style={{ marginBottom: 8 }}>
        <Typography.Title level={1} style={{ fontSize: 20, margin: 0, flex: '1 1 auto' }}>
          {t('menu.system.mail')}
        </Typography.Title>
        {configures && (
          <Button icon={<SettingOutlined />} onClick={() => void navigate(settings)}>
            {t('mail.settings')}
          </Button>
        )}
        {test.button && (
          <Button type="primary" icon={<SendOutlined />} disabled={test.off} title={test.off ? t('mail.test.off') : undefined} onClick={test.open}>
            {t('mail.test')}
          </Button>
        )}
      </Flex>
      {on === false && <Alert type="warning" showIcon title={t(configures ? 'mail.off' : 'mail.off.ask')} style={{ marginBottom: 8 }} />}
      <Tabs
        className="tabs-wrap"
        destroyOnHidden
        activeKey={part === 'templates' ? part : 'outbox'}
        onChange={(key) => void navigate(`/system/mail${key === 'outbox' ? '' : `/${key}`}`)}
        items={[
          { key: 'outbox', label: t('mail.outbox'), children: <Outbox on={on} /> },
          {
            key: 'templates',
            label: t('mail.templates'),
            children: (
              <Suspense fallback={<Skeleton active title={false} />}>
                <Templates />
              </Suspense>
            ),
          },
        ]}
      />
      {test.panel}
    </>
  )
}
