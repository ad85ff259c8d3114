import { CompassOutlined, LockOutlined, WarningOutlined } from '@ant-design/icons'
import { Button, Flex, theme, Typography } from 'antd'
import type { ReactNode } from 'react'
import { Link } from 'react-router'
import { t } from '../i18n'
import { useReconnect } from '../ui/useReconnect'

// What is shown instead of a page.

function State({ icon, title, children }: { icon: ReactNode; title: string; children: ReactNode }) {
  const { token } = theme.useToken()
  return (
    <Flex vertical align="center" gap={16} style={{ padding: '96px 16px', textAlign: 'center' }}>
      <span style={{ fontSize: 48, color: token.colorTextSecondary }}>{icon}</span>
      <Typography.Title level={1} style={{ fontSize: 20, margin: 0 }}>
        {title}
      </Typography.Title>
      {children}
    </Flex>
  )
}

export function NotFound() {
  return (
    <State icon={<CompassOutlined />} title={t('state.not_found')}>
      <Link to="/">{t('state.home')}</Link>
    </State>
  )
}

export function Forbidden({ permission }: { permission: string }) {
  return (
    <State icon={<LockOutlined />} title={t('state.forbidden')}>
      <Typography.Text>{t('state.forbidden.missing', { permission })}</Typography.Text>
      <Link to="/">{t('state.home')}</Link>
    </State>
  )
}

// Problem is shown when a page throws, or its file can't be loaded: after an update of the
// server the old version's files are gone, and during a restart none are available.
export function Problem() {
  useReconnect(reload)
  return (
    <State icon={<WarningOutlined />} title={t('state.problem')}>
      <Button type="primary" onClick={reload}>
        {t('state.reload')}
      </Button>
    </State>
  )
}

const reload = () => location.reload()
