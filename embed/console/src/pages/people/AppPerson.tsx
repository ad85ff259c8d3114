import { Card, Descriptions } from 'antd'
import { lazy, Suspense, useCallback, useState } from 'react'
import { useLocation, useParams } from 'react-router'
import { Failure, get } from '../../api/request'
import type { AppUser, FieldForm } from '../../api/types'
import { t } from '../../i18n'
import { Time } from '../../ui/Time'
import { useRequest } from '../../ui/useRequest'
import { useChanges } from '../../ui/useChanges'
import { usePanel } from '../../ui/usePanel'
import { useWider } from '../../ui/useWider'
import { fieldItems } from '../fields/places'
import { useForms } from '../fields/useForms'
import { app } from './person'
import { madeBy } from './MadeBy'
import { PersonPage, Unread } from './PersonPage'
import { usePeople } from './usePeople'
import { Email } from './Email'
import { Pending } from './Pending'

const AppUserForm = lazy(async () => ({ default: (await import('./AppUserForm')).AppUserForm }))

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
  const { reload, refresh, fresh } = useRequest(question)
  useChanges([`app_user:${who}`], refresh, fresh)
  if (!failure && user && String(user.id) === who) return <Shown user={user} part={part} from={from} reload={reload} />
  return <Unread from={from} failure={failure} />
}

function Shown({ user, part, from, reload }: { user: AppUser; part: string; from: string; reload: () => Promise<void> }) {
  const people = usePeople<AppUser>(app, reload)
  const form = usePanel<true>()
  const custom = useForms().app_users
  return (
    <>
      <PersonPage
        user={user}
        realm={app}
        mark={t('sessions.app')}
        part={part}
        from={from}
        profile={<Profile user={user} custom={custom} />}
        people={people}
        reload={reload}
        onEdit={() => form.show(true)}
      />
      <Suspense>
        {form.of && <AppUserForm open={form.open} user={user} custom={custom} onClose={form.hide} onSaved={() => void reload()} onMade={() => {}} />}
      </Suspense>
    </>
  )
}

function Profile({ user, custom }: { user: AppUser; custom: FieldForm[] }) {
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
          { label: t('people.email'), children: <Email of={user} /> },
          { label: t('people.mobile'), children: <bdi>{user.mobile || '—'}</bdi> },
          { label: t('people.roles'), children: user.role_names.join(', ') || '—' },
          {
            label: t('status'),
            children: (
              <>
                {t(user.status ? 'enabled' : 'disabled')} <Pending user={user} />
              </>
            ),
          },
          { label: t('people.login_time'), children: user.login_time ? <LastSignIn user={user} at={user.login_time} /> : t('people.never') },
          ...fieldItems(custom, user.fields),
          { label: t('created_at'), children: <Time at={user.created_at} /> },
          ...madeBy(user),
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
