import { CheckCircleOutlined, DisconnectOutlined, LoadingOutlined, SyncOutlined, WarningOutlined } from '@ant-design/icons'
import { Button, theme } from 'antd'
import type { ReactNode } from 'react'
import { t } from '../i18n'
import { missing } from '../ui/missing'
import { notifyReconnect } from '../ui/useReconnect'
import { dismiss, tryNow, useReach } from './reach'

// ReachBar shows a message above everything while the server is unreachable, or parts of the page could not be loaded.
export function ReachBar() {
  const server = useReach()
  const some = missing.use() > 0
  const reach = server === 'well' && some ? 'part' : server
  const { token } = theme.useToken()
  const says: Record<Exclude<typeof reach, 'well'>, { icon: ReactNode; action?: ReactNode }> = {
    offline: { icon: <DisconnectOutlined style={{ color: token.colorWarning }} /> },
    away: {
      icon: <LoadingOutlined style={{ color: token.colorPrimary }} />,
      action: (
        <Button size="small" onClick={tryNow}>
          {t('reach.try')}
        </Button>
      ),
    },
    part: {
      icon: <WarningOutlined style={{ color: token.colorWarning }} />,
      action: (
        <Button size="small" onClick={notifyReconnect}>
          {t('reach.try')}
        </Button>
      ),
    },
    back: { icon: <CheckCircleOutlined style={{ color: token.colorSuccess }} /> },
    updated: {
      icon: <SyncOutlined style={{ color: token.colorPrimary }} />,
      action: (
        <>
          <Button size="small" type="primary" onClick={() => location.reload()}>
            {t('state.reload')}
          </Button>
          <Button size="small" type="text" onClick={dismiss}>
            {t('reach.later')}
          </Button>
        </>
      ),
    },
  }
  const message = reach === 'well' ? undefined : says[reach]
  return (
    <div role="status" className="reach" style={{ zIndex: token.zIndexPopupBase + 1000 }}>
      {message && (
        <div
          className="reach-bar"
          data-reach={reach}
          style={{
            background: token.colorBgElevated,
            color: token.colorText,
            border: `1px solid ${token.colorBorderSecondary}`,
            boxShadow: token.boxShadow,
            borderRadius: token.borderRadiusLG,
          }}
        >
          {message.icon}
          <span>{t(`reach.${reach as keyof typeof says}`)}</span>
          {message.action}
        </div>
      )}
    </div>
  )
}
