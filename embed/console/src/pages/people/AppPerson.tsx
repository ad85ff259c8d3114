import { Card, Descriptions, Empty, Flex, Skeleton, Tabs, Tag } from 'antd'
import { lazy, Suspense, useCallback, useState } from 'react'
import { useLocation, useNavigate, useParams } from 'react-router'
import { Failure, get } from '../../api/request'
import type { AppUser } from '../../api/types'
import { useAccount } from '../../app/account'
import { learn, t } from '../../i18n'
import { Actions } from '../../ui/Actions'
import { Face } from '../../ui/Face'
import { Time } from '../../ui/Time'
import { useAsk } from '../../ui/useAsk'
import { usePanel } from '../../ui/usePanel'
import { useWider } from '../../ui/useWider'
import { words } from '../../ui/words'
import { app } from './person'
import { Head } from './PersonHead'
import { Sessions } from './UserSessions'
import { usePeople } from './usePeople'

const AppUserForm = lazy(async () => ({ default: (await import('./AppUserForm')).AppUserForm }))
const PersonActivity = lazy(async () => ({
  default: (await Promise.all([import('../../ui/log/PersonActivity'), learn('audit', 'actions')]))[0].PersonActivity,
}))

// AppPerson is the page of one app user, whose ID is in the URL, followed by the open tab.
export function AppPerson() {
  const [who = '', part = ''] = (useParams()['*'] ?? '').split('/')
  const state = useLocation().state as { from?: string } | null
  const [from] = useState(state?.from ?? app.path)
  const [user, setUser] = useState<AppUser>()
  const [failure, setFailure] = useState<Failure>()
  const question = useCallback(
    async (signal: AbortSignal) => {
      try {
        setUser(await get(`/user/list/${encodeURIComponent(who) as `${number}`}`, {}, { signal, quiet: true }))
        setFailure(undefined)
      } catch (cause) {
        if (cause instanceof Failure) setFailure(cause)
        throw cause
      }
    },
    [who],
  )
  const { reload } = useAsk(question)
  if (!failure && user && String(user.id) === who) return <Shown user={user} part={part} from={from} reload={reload} />
  return (
    <>
      <Head title={t('people.user')} from={from} />
      {failure ? (
        <Empty image={Empty.PRESENTED_IMAGE_SIMPLE} description={failure.status === 404 || failure.status === 400 ? t('people.gone') : words(failure)} />
      ) : (
        <Skeleton active />
      )}
    </>
  )
}

function Shown({ user, part, from, reload }: { user: AppUser; part: string; from: string; reload: () => Promise<void> }) {
  const { may } = useAccount()
  const navigate = useNavigate()
  const people = usePeople<AppUser>(app, reload)
  const form = usePanel<true>()
  const items = [
    { key: 'profile', label: t('people.profile'), children: <Profile user={user} /> },
    ...(may('system.session.query') ? [{ key: 'sessions', label: t('people.sessions'), children: <Sessions user={user} realm={app} /> }] : []),
    ...(may('system.audit.query')
      ? [
          {
            key: 'activity',
            label: t('menu.system.audit'),
            children: (
              <Suspense fallback={<Skeleton active />}>
                <PersonActivity collection="app_user" id={user.id} name={user.nickname || user.username} />
              </Suspense>
            ),
          },
        ]
      : []),
  ]
  return (
    <>
      <Head
        from={from}
        title={
          <Flex gap={12} align="center">
            <Face of={user} size={40} />
            <span style={{ minWidth: 0 }}>
              <bdi>{user.nickname || user.username}</bdi>
            </span>
            <Tag>{t('sessions.app')}</Tag>
            {user.status === 0 && <Tag color="error">{t('disabled')}</Tag>}
          </Flex>
        }
      >
        <Actions
          first={may('user.list.update') && { label: t('edit'), onClick: () => form.show(true) }}
          label={t('people.more_name', { name: user.username })}
          more={[
            may('user.list.password') && { label: t('people.reset'), onClick: () => people.reset(user) },
            may('user.list.data') && { label: t('people.data'), onClick: () => void people.data(user) },
            may('user.list.erase') && { label: t('people.erase'), danger: true, onClick: () => people.erase(user) },
          ]}
        />
      </Head>
      <Tabs
        className="tabs-wrap"
        items={items}
        destroyOnHidden
        activeKey={items.some(({ key }) => key === part) ? part : 'profile'}
        onChange={(key) => void navigate(`/user/list/${user.id}${key === 'profile' ? '' : `/${key}`}`)}
      />
      <Suspense>{form.of && <AppUserForm open={form.open} user={user} onClose={form.hide} onSaved={() => void reload()} onMade={() => {}} />}</Suspense>
      {people.panels}
    </>
  )
}

function Profile({ user }: { user: AppUser }) {
  const md = useWider('md')
  return (
    <Card>
      <Descriptions
        column={md ? 2 : 1}
        size="small"
        styles={{ content: { overflowWrap: 'anywhere', minWidth: 0 } }}
        items={[
          { label: t('sign_in.username'), children: <bdi>{user.username}</bdi> },
          { label: t('people.nickname'), children: <bdi>{user.nickname || '—'}</bdi> },
          { label: t('people.email'), children: user.email ? <a href={`mailto:${encodeURI(user.email)}`}>{user.email}</a> : '—' },
          { label: t('people.mobile'), children: <bdi>{user.mobile || '—'}</bdi> },
          { label: t('status'), children: t(user.status ? 'enabled' : 'disabled') },
          { label: t('people.login_time'), children: user.login_time ? <LastSignIn user={user} at={user.login_time} /> : t('people.never') },
          { label: t('created_at'), children: <Time at={user.created_at} /> },
          { label: t('updated_at'), children: <Time at={user.updated_at} /> },
        ]}
      />
    </Card>
  )
}

function LastSignIn({ user, at }: { user: AppUser; at: string }) {
  return (
    <span>
      <Time at={at} />
      {user.login_ip && `, ${user.login_ip}`}
    </span>
  )
}
