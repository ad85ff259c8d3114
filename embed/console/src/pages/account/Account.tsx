import { Alert, Skeleton, Tabs, Typography } from 'antd'
import { lazy, type ReactNode, Suspense } from 'react'
import { Navigate, useLocation, useNavigate } from 'react-router'
import { useAccount } from '../../app/account'
import { loadTexts, t } from '../../i18n'
import { useWider } from '../../ui/useWider'
import { LoginLog } from '../LoginLog'
import { Profile } from './Profile'

const OwnKeys = lazy(async () => ({ default: (await Promise.all([import('../keys/OwnKeys'), loadTexts('keys')]))[0].OwnKeys }))
const Security = lazy(async () => ({ default: (await Promise.all([import('../security/Security'), loadTexts('security', 'factor', 'connect')]))[0].Security }))

const OwnActivity = lazy(async () => ({
  default: (await Promise.all([import('../activity/OwnActivity'), loadTexts('activity', 'actions', 'builtins')]))[0].OwnActivity,
}))

const waiting = (part: ReactNode) => <Suspense fallback={<Skeleton active title={false} />}>{part}</Suspense>

// moved are tabs of earlier versions, which are sections of the security page now.
const moved: Record<string, string> = { password: 'password', factor: 'factor', sessions: 'devices' }

// AccountPage is the user's own account. The open tab is part of the URL.
export function AccountPage() {
  const { info } = useAccount()
  const navigate = useNavigate()
  const md = useWider('md')
  const { pathname, search } = useLocation()
  const part = pathname.split('/')[2] ?? ''
  if (Object.hasOwn(moved, part)) return <Navigate to={`/account/security#${moved[part]}`} replace />
  if (!part && new URLSearchParams(search).has('connected')) return <Navigate to="/account/security?connected=1#providers" replace />
  if (info.acting) return <Alert type="info" showIcon title={t('error.acting')} />
  const items = [
    { key: 'profile', label: t('account.profile'), children: <Profile /> },
    { key: 'security', label: t('account.security'), children: waiting(<Security />) },
    { key: 'keys', label: t('menu.admin.key'), children: waiting(<OwnKeys />) },
    { key: 'loginlog', label: t('account.sign_ins'), children: <LoginLog own /> },
    { key: 'activity', label: t('menu.system.audit'), children: waiting(<OwnActivity />) },
  ]
  return (
    <>
      <Typography.Title level={1} style={{ fontSize: 20, margin: '0 0 8px' }}>
        {t('account')}
      </Typography.Title>
      {/* The lists keep what they show in the address too: only the open part is there. */}
      <Tabs
        className="tabs-wrap"
        items={items}
        destroyOnHidden
        tabBarGutter={md ? 32 : 0}
        activeKey={items.some(({ key }) => key === part) ? part : 'profile'}
        onChange={(key) => void navigate(key === 'profile' ? '/account' : `/account/${key}`)}
      />
    </>
  )
}
