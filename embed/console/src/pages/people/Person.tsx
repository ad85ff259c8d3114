import { Card, Descriptions, Flex, Skeleton, Tag } from 'antd'
import { lazy, Suspense, useCallback, useEffect, useEffectEvent, useState } from 'react'
import { Link, useLocation, useNavigate, useParams } from 'react-router'
import { Failure, get } from '../../api/request'
import type { FieldForm, User } from '../../api/types'
import { useAccount } from '../../app/account'
import { type Key, loadTexts, t } from '../../i18n'
import { Time } from '../../ui/Time'
import { useRequest } from '../../ui/useRequest'
import { useChanges } from '../../ui/useChanges'
import { usePanel } from '../../ui/usePanel'
import { useWider } from '../../ui/useWider'
import { LoginLog } from '../LoginLog'
import { fieldItems } from '../fields/places'
import { useForms } from '../fields/useForms'
import { backend } from './person'
import { madeBy } from './MadeBy'
import { PersonPage, Unread } from './PersonPage'
import { usePeople } from './usePeople'
import { Email } from './Email'

const Access = lazy(async () => ({ default: (await Promise.all([import('./Access'), loadTexts('actions', 'rights')]))[0].Access }))
const UserForm = lazy(async () => ({ default: (await import('./UserForm')).UserForm }))

// Person is the page of one user. The URL ends with the ID, or with @ and the username,
// followed by the open tab.
export function Person() {
  const [who = '', part = ''] = (useParams()['*'] ?? '').split('/')
  const navigate = useNavigate()
  const state = useLocation().state as { from?: string } | null
  const [from] = useState(state?.from ?? '/admin/list') // a list on this page changes the location state
  const name = who.startsWith('@') ? who.slice(1) : ''
  const [user, setUser] = useState<User>()
  const [failure, setFailure] = useState<Failure>()

  const question = useCallback(
    async (signal: AbortSignal) => {
      try {
        const found = name
          ? (await get('/admin/list', { username: name }, { signal, quiet: true })).data[0]
          : await get(`/admin/list/${encodeURIComponent(who) as `${number}`}`, {}, { signal, quiet: true })
        setUser(found)
        setFailure(found ? undefined : new Failure(404, 'not_found', '', 0))
      } catch (cause) {
        if (cause instanceof Failure) setFailure(cause)
        throw cause
      }
    },
    [name, who],
  )
  const { reload, refresh, fresh } = useRequest(question)
  const there = user && (name ? user.username.toLowerCase() === name.toLowerCase() : String(user.id) === who) ? user : undefined
  useChanges(there && [`user:${there.id}`], refresh, fresh)

  const toNumber = useEffectEvent((id: number) => navigate(`/admin/list/${id}`, { replace: true, state }))
  useEffect(() => {
    if (name && there) void toNumber(there.id)
  }, [name, there])

  if (failure || !there || name) return <Unread from={from} failure={failure} />
  return <Shown user={there} part={part} from={from} reload={reload} />
}

function Shown({ user, part, from, reload }: { user: User; part: string; from: string; reload: () => Promise<void> }) {
  const { info, may } = useAccount()
  const people = usePeople<User>(backend, reload)
  const form = usePanel<true>()
  const custom = useForms().users
  const mine = user.id === info.info.id
  const access = (
    <Suspense fallback={<Skeleton active />}>
      <Access user={user} />
    </Suspense>
  )
  return (
    <>
      <PersonPage
        user={user}
        realm={backend}
        own={mine}
        mark={mine ? t('people.you') : undefined}
        part={part}
        from={from}
        profile={<Profile user={user} custom={custom} />}
        before={may('admin.rule.query') ? [{ key: 'access', label: t('people.access'), children: access }] : []}
        after={may('system.loginlog.query') ? [{ key: 'loginlog', label: t('people.sign_ins'), children: <LoginLog of={user.id} /> }] : []}
        people={people}
        reload={reload}
        onEdit={() => form.show(true)}
      />
      {form.of && <Edit open={form.open} user={user} custom={custom} own={mine} onClose={form.hide} onSaved={() => void reload()} />}
    </>
  )
}

function Profile({ user, custom }: { user: User; custom: FieldForm[] }) {
  const { may } = useAccount()
  const md = useWider('md')
  const roles = user.role_ids.map((id, i) => {
    const name = user.role_names[i] ?? String(id)
    return (
      <Tag key={id} style={{ margin: 0, whiteSpace: 'normal', overflowWrap: 'anywhere' }}>
        {may('admin.role.query') ? <Link to={`/admin/role/${id}`}>{name}</Link> : name}
      </Tag>
    )
  })
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
          {
            label: t('people.dept'),
            children: user.dept_id ? (
              <Link to={`/admin/list?dept_id=${user.dept_id}`}>
                <bdi>{user.dept_name}</bdi>
              </Link>
            ) : (
              t('people.dept.none')
            ),
          },
          {
            label: t('people.roles'),
            children: roles.length ? (
              <Flex gap={4} wrap>
                {roles}
              </Flex>
            ) : (
              '—'
            ),
          },
          { label: t('people.sex'), children: t(`people.sex.${user.sex}` as Key) },
          { label: t('status'), children: t(user.status ? 'enabled' : 'disabled') },
          {
            label: t('people.login_time'),
            children: user.login_time ? (
              <>
                <Time at={user.login_time} />
                {user.login_ip && `, ${user.login_ip}`}
              </>
            ) : (
              t('people.never')
            ),
          },
          { label: t('people.must_change'), children: t(user.must_change_password ? 'yes' : 'no') },
          ...fieldItems(custom, user.fields),
          { label: t('created_at'), children: <Time at={user.created_at} /> },
          ...madeBy(user),
          { label: t('updated_at'), children: <Time at={user.updated_at} /> },
        ]}
      />
    </Card>
  )
}

type EditProps = { open: boolean; user: User; custom: FieldForm[]; own: boolean; onClose: () => void; onSaved: () => void }

// Edit is the form with its options.
function Edit(props: EditProps) {
  return (
    <Suspense>
      <UserForm {...props} dept={0} onMade={() => {}} />
    </Suspense>
  )
}
