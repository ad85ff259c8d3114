import { Skeleton, Tabs, Typography } from 'antd'
import { lazy, Suspense } from 'react'
import { useLocation, useNavigate } from 'react-router'
import { learn, t } from '../../i18n'
import { useWider } from '../../ui/useWider'
import { LoginLog } from '../LoginLog'
import { OwnSessions } from './OwnSessions'
import { PasswordForm } from './PasswordForm'
import { Profile } from './Profile'

const OwnKeys = lazy(async () => ({ default: (await Promise.all([import('../keys/OwnKeys'), learn('keys')]))[0].OwnKeys }))
const SecondFactor = lazy(async () => ({ default: (await Promise.all([import('../factor/SecondFactor'), learn('factor')]))[0].SecondFactor }))

// AccountPage is the user's own account. The open tab is part of the URL.
export function AccountPage() {
  const navigate = useNavigate()
  const md = useWider('md')
  const part = useLocation().pathname.split('/')[2] ?? ''
  const items = [
    { key: 'profile', label: t('account.profile'), children: <Profile /> },
    { key: 'password', label: t('sign_in.password'), children: <PasswordForm /> },
    {
      key: 'factor',
      label: t('account.factor'),
      children: (
        <Suspense fallback={<Skeleton active />}>
          <SecondFactor />
        </Suspense>
      ),
    },
    { key: 'sessions', label: t('menu.system.session'), children: <OwnSessions /> },
    {
      key: 'keys',
      label: t('menu.admin.key'),
      children: (
        <Suspense fallback={<Skeleton active />}>
          <OwnKeys />
        </Suspense>
      ),
    },
    { key: 'loginlog', label: t('menu.system.loginlog'), children: <LoginLog own /> },
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
