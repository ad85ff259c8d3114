import { Card, Descriptions, type DescriptionsProps, Empty, Flex, Skeleton, Tabs, Tag } from 'antd'
import { lazy, type ReactNode, Suspense, useEffect, useEffectEvent, useState } from 'react'
import { useLocation, useNavigate, useParams } from 'react-router'
import { get } from '../../api/request'
import type { FieldForm, SignInState } from '../../api/types'
import { useAccount } from '../../app/account'
import { joined, loadTexts, t } from '../../i18n'
import { Actions } from '../../ui/Actions'
import { Face } from '../../ui/Face'
import { Head } from '../../ui/Head'
import { Time } from '../../ui/Time'
import { useChanges } from '../../ui/useChanges'
import { Panel, usePanel } from '../../ui/usePanel'
import { type Leave, useRecord } from '../../ui/useRecord'
import { useWider } from '../../ui/useWider'
import { words } from '../../ui/words'
import { fieldItems } from '../fields/places'
import { useForms } from '../fields/useForms'
import { Email } from './Email'
import { Lockout } from './Lockout'
import { madeBy } from './MadeBy'
import type { FormProps } from './PersonForm'
import type { Person } from './person'
import { personActions } from './personActions'
import type { Realm } from './realm'
import { usePeople } from './usePeople'
import { Sessions } from './UserSessions'

const PersonActivity = lazy(async () => ({
  default: (await Promise.all([import('../../ui/log/PersonActivity'), loadTexts('audit', 'actions', 'builtins')]))[0].PersonActivity,
}))

type Tab = { key: string; label: string; children: ReactNode }
type Items = NonNullable<DescriptionsProps['items']>

// Own is what only one realm has.
type Own<P extends Person> = {
  realm: Realm
  find: (who: string, signal: AbortSignal) => Promise<P | undefined> // by what ends the URL
  mark?: (user: P) => ReactNode // beside the status
  places: (user: P) => Items // department, roles and what else comes before the status
  further?: (user: P) => Items // after the last sign-in
  before?: (user: P) => Tab[] // before the sessions
  after?: (user: P) => Tab[] // after them
  form: (props: FormProps<P>) => ReactNode
}

// PersonPage is the page of one person of either realm. The URL ends with the ID or, where people
// are found by name, with @ and the username, followed by the open tab.
export function PersonPage<P extends Person>(own: Own<P>) {
  const { realm, find } = own
  const [who = '', part = ''] = (useParams()['*'] ?? '').split('/')
  const navigate = useNavigate()
  const state = useLocation().state as { from?: string } | null
  const [from] = useState(state?.from ?? realm.path) // a list on this page changes the location state
  const name = who.startsWith('@') ? who.slice(1) : ''
  const { read, failure, reload, refresh, fresh, removing } = useRecord(find, who)
  const user = read && (name ? read.username.toLowerCase() === name.toLowerCase() : String(read.id) === who) ? read : undefined
  const id = user?.id ?? Number(who) // known before the user is read, unless there is a name
  useChanges(id ? [`${realm.collection}:${id}`] : undefined, refresh, fresh)

  const toNumber = useEffectEvent((id: number) => navigate(`${realm.path}/${id}`, { replace: true, state }))
  useEffect(() => {
    if (name && user) void toNumber(user.id)
  }, [name, user])

  const back = { back: t('people.back'), from }
  if (!failure && user && !name) return <Shown {...own} user={user} part={part} back={back} reload={reload} removing={removing} />
  return (
    <>
      <Head title={t('people.user')} {...back} />
      {failure ? (
        <Empty image={Empty.PRESENTED_IMAGE_SIMPLE} description={failure.status === 404 || failure.status === 400 ? t('people.gone') : words(failure)} />
      ) : (
        <Skeleton active title={false} />
      )}
    </>
  )
}

type Props<P extends Person> = Own<P> & { user: P; part: string; back: { back: string; from: string }; reload: () => Promise<void>; removing: Leave }

// Shown has the name, the actions, and tabs.
function Shown<P extends Person>({ user, part, back, reload, removing, ...own }: Props<P>) {
  const { realm, before, after, form } = own
  const { info, may } = useAccount()
  const navigate = useNavigate()
  const md = useWider('md')
  const state = useSignInState(realm, user)
  const people = usePeople<P>(realm, reload)
  const edited = usePanel<true>()
  const custom = useForms()[realm.fields]
  const mine = realm.ours && user.id === info.info.id
  const acts = personActions<P>({ user, own: mine, realm, people, may, leave: (remove) => removing(remove).then(() => navigate(back.from)) })
  const name = user.nickname || user.username
  const tag = realm.ours ? mine && t('people.you') : t('sessions.app')
  const items: Tab[] = [
    { key: 'profile', label: t('people.profile'), children: <Profile {...own} user={user} custom={custom} state={state} /> },
    ...(before?.(user) ?? []),
  ]
  if (may('system.session.query')) items.push({ key: 'sessions', label: t('people.sessions'), children: <Sessions user={user} realm={realm} /> })
  items.push(...(after?.(user) ?? []))
  if (may('system.audit.query')) {
    const activity = (
      <Suspense fallback={<Skeleton active title={false} />}>
        <PersonActivity collection={realm.collection} id={user.id} name={name} />
      </Suspense>
    )
    items.push({ key: 'activity', label: t('menu.system.audit'), children: activity })
  }
  return (
    <>
      <Head
        {...back}
        title={
          <Flex gap={12} align="center">
            <Face of={user} size={40} />
            <span style={{ minWidth: 0 }}>
              <bdi>{name}</bdi>
            </span>
            {tag && <Tag>{tag}</Tag>}
            {user.status === 0 && <Tag color="error">{t('disabled')}</Tag>}
          </Flex>
        }
      >
        <Actions
          first={may(`${realm.access}.update`) && { label: t('edit'), onClick: () => edited.show(true) }}
          label={t('people.more_name', { name: user.username })}
          more={[acts.link, acts.reset, acts.unfactor, !may('system.session.query') && acts.sessions, acts.act, acts.data, acts.remove, acts.erase]}
        />
      </Head>
      <Lockout user={user} realm={realm} state={state} own={mine} edit={() => edited.show(true)} link={acts.link} reload={reload} />
      {/* A list keeps what it shows in the address too: only the open part is there. */}
      <Tabs
        className="tabs-wrap"
        items={items}
        destroyOnHidden
        tabBarGutter={md ? 32 : 0}
        activeKey={items.some(({ key }) => key === part) ? part : 'profile'}
        onChange={(key) => void navigate(`${realm.path}/${user.id}${key === 'profile' ? '' : `/${key}`}`)}
      />
      {people.panels}
      <Panel of={edited}>{(_, open) => form({ open, user, custom, onClose: edited.hide, onSaved: () => void reload() })}</Panel>
    </>
  )
}

// useSignInState is whether a person can sign in, and by what. The rest of the page says more if it can't be read.
function useSignInState(realm: Realm, user: Person): SignInState | undefined {
  const [state, setState] = useState<SignInState>()
  const path: `/admin/list/${number}/sign-in` | `/user/list/${number}/sign-in` = `${realm.path}/${user.id}/sign-in`
  // biome-ignore lint/correctness/useExhaustiveDependencies: a change of the person may change it
  useEffect(() => {
    const question = new AbortController()
    get(path, {}, { quiet: true, signal: question.signal }).then(setState, () => {})
    return () => question.abort()
  }, [path, user])
  return state
}

// factors names the means of signing in besides the password that are set up.
function factors({ authenticator_app, passkeys }: SignInState): string {
  const set = [...(authenticator_app ? [t('people.factors.app')] : []), ...(passkeys ? [t('people.factors.passkeys', { n: passkeys })] : [])]
  return set.length ? joined(set) : t('people.factors.none')
}

type Shown<P extends Person> = Own<P> & { user: P; custom: FieldForm[]; state: SignInState | undefined }

function Profile<P extends Person>({ user, custom, places, mark, further, state }: Shown<P>) {
  const lg = useWider('lg')
  return (
    <Card>
      <Descriptions
        column={lg ? 2 : 1}
        size="small"
        styles={{ content: { overflowWrap: 'anywhere', minWidth: 0 } }}
        items={[
          { label: t('sign_in.username'), children: <bdi>{user.username}</bdi> },
          { label: t('people.nickname'), children: <bdi>{user.nickname || '—'}</bdi> },
          { label: t('people.email'), children: <Email of={user} /> },
          { label: t('people.mobile'), children: <bdi>{user.mobile || '—'}</bdi> },
          ...places(user),
          {
            label: t('status'),
            children: (
              <>
                {t(user.status ? 'enabled' : 'disabled')} {mark?.(user)}
              </>
            ),
          },
          {
            label: t('people.login_time'),
            children: user.login_time ? (
              <span>
                <Time at={user.login_time} />
                {user.login_ip && `, ${user.login_ip}`}
              </span>
            ) : (
              t('people.never')
            ),
          },
          { label: t('people.password_sign_in'), children: t(`people.password_sign_in.${user.password_sign_in || 'role'}`) },
          { label: t('people.factors'), children: state ? factors(state) : '…' },
          ...(further?.(user) ?? []),
          ...fieldItems(custom, user.fields),
          { label: t('created_at'), children: <Time at={user.created_at} /> },
          ...madeBy(user),
          { label: t('updated_at'), children: <Time at={user.updated_at} /> },
        ]}
      />
    </Card>
  )
}
