import { Empty, Flex, Skeleton, Tabs, Tag } from 'antd'
import { lazy, type ReactNode, Suspense } from 'react'
import { useNavigate } from 'react-router'
import type { Failure } from '../../api/request'
import { useAccount } from '../../app/account'
import { loadTexts, t } from '../../i18n'
import { Actions } from '../../ui/Actions'
import { Face } from '../../ui/Face'
import { useWider } from '../../ui/useWider'
import { words } from '../../ui/words'
import { Head } from './PersonHead'
import { linkAction } from './linkAction'
import { Lockout } from './Lockout'
import type { Person, Realm } from './person'
import { Sessions } from './UserSessions'
import type { People } from './usePeople'

const PersonActivity = lazy(async () => ({
  default: (await Promise.all([import('../../ui/log/PersonActivity'), loadTexts('audit', 'actions', 'builtins')]))[0].PersonActivity,
}))

export type Tab = { key: string; label: string; children: ReactNode }

type Props<P extends Person> = {
  user: P
  realm: Realm
  own?: boolean // the user who is signed in
  mark?: string // beside the name
  part: string // key of the open tab
  from: string // list to go back to
  profile: ReactNode
  before?: Tab[] // before the sessions
  after?: Tab[] // after them
  people: People<P>
  reload: () => Promise<void>
  onEdit: () => void
}

// PersonPage is the page of one person of either realm: the name, the actions, and tabs.
export function PersonPage<P extends Person>({
  user,
  realm,
  own = false,
  mark,
  part,
  from,
  profile,
  before = [],
  after = [],
  people,
  reload,
  onEdit,
}: Props<P>) {
  const { may } = useAccount()
  const navigate = useNavigate()
  const md = useWider('md')
  const [access, collection] = realm.owner === 'user_id' ? (['admin.list', 'user'] as const) : (['user.list', 'app_user'] as const)
  const name = user.nickname || user.username
  const items: Tab[] = [{ key: 'profile', label: t('people.profile'), children: profile }, ...before]
  if (may('system.session.query')) items.push({ key: 'sessions', label: t('people.sessions'), children: <Sessions user={user} realm={realm} /> })
  items.push(...after)
  if (may('system.audit.query')) {
    const activity = (
      <Suspense fallback={<Skeleton active />}>
        <PersonActivity collection={collection} id={user.id} name={name} />
      </Suspense>
    )
    items.push({ key: 'activity', label: t('menu.system.audit'), children: activity })
  }
  return (
    <>
      <Head
        from={from}
        title={
          <Flex gap={12} align="center">
            <Face of={user} size={40} />
            <span style={{ minWidth: 0 }}>
              <bdi>{name}</bdi>
            </span>
            {mark && <Tag>{mark}</Tag>}
            {user.status === 0 && <Tag color="error">{t('disabled')}</Tag>}
          </Flex>
        }
      >
        <Actions
          first={may(`${access}.update`) && { label: t('edit'), onClick: onEdit }}
          label={t('people.more_name', { name: user.username })}
          more={[
            !own && linkAction(people.links, user, realm, may),
            may(`${access}.password`) && !own && { label: t('people.reset'), onClick: () => people.reset(user) },
            access === 'admin.list' && may('admin.list.act_as') && !own && user.status === 1 && { label: t('people.act_as'), onClick: () => people.act(user) },
            may(`${access}.data`) && { label: t('people.data'), onClick: () => void people.data(user) },
            may(`${access}.erase`) && !own && { label: t('people.erase'), danger: true, onClick: () => people.erase(user) },
          ]}
        />
      </Head>
      <Lockout user={user} realm={realm} reload={reload} />
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
    </>
  )
}

// Unread is the page of a person who is not loaded yet, or could not be.
export function Unread({ from, failure }: { from: string; failure?: Failure }) {
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
