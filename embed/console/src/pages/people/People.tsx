import { MailOutlined } from '@ant-design/icons'
import { Button, type TableProps, Typography } from 'antd'
import { lazy, type ReactNode, Suspense, useEffect, useEffectEvent } from 'react'
import { useLocation, useNavigate } from 'react-router'
import { useAccount } from '../../app/account'
import { loadTexts, t } from '../../i18n'
import { Actions, actionsColumn } from '../../ui/Actions'
import { CreateButton } from '../../ui/CreateButton'
import { List } from '../../ui/List'
import { Time } from '../../ui/Time'
import { useChoices } from '../../ui/useChoices'
import { Panel, usePanel } from '../../ui/usePanel'
import type { useTable } from '../../ui/useTable'
import { fieldColumns } from '../fields/places'
import { useForms } from '../fields/useForms'
import { Contact, Who } from './cells'
import { Filters } from './Filters'
import type { FormProps } from './PersonForm'
import type { Person } from './person'
import { personActions } from './personActions'
import type { Realm } from './realm'
import { StatusSwitch } from './StatusSwitch'
import { type People as Acts, usePeople } from './usePeople'
import { Whole } from './Whole'

const InvitePeople = lazy(async () => ({ default: (await Promise.all([import('../invite/InvitePeople'), loadTexts('invite')]))[0].InvitePeople }))
const Import = lazy(async () => ({ default: (await import('./Import')).Import }))

type Column<P> = NonNullable<TableProps<P>['columns']>[number]

// BatchProps are the selected people, and their number if all that match are selected.
export type BatchProps<P extends Person> = { chosen: P[]; whole?: number; people: Acts<P> }

type Props<P extends Person> = {
  realm: Realm
  list: ReturnType<typeof useTable<P>>
  roles: Column<P>
  form: (props: FormProps<P>) => ReactNode
  batch?: (props: BatchProps<P>) => ReactNode // undefined without permission
  wholes?: boolean // whether all that match can be selected
  mark?: (user: P) => ReactNode // below the name
  filters?: ReactNode // before those of both realms
  crowded?: boolean // whether the list has less room
  explain?: (user: P) => void // shows why a user has a permission
  table?: TableProps<P>
}

// People is the list of the users of either realm.
export function People<P extends Person>({ realm, list, roles, form, batch, wholes, mark, filters, crowded = false, explain, table }: Props<P>) {
  const { info, may } = useAccount()
  const navigate = useNavigate()
  const { pathname, search } = useLocation()
  const { access, path, texts } = realm
  const people = usePeople<P>(realm, list.reload)
  const importing = usePanel<true>()
  const inviting = usePanel<true>()
  const invites = may(`${access}.create`) && may(`${realm.invite}.create`)
  const edited = usePanel<{ user?: P }>()
  const custom = useForms()[realm.fields]
  const offered = useChoices(realm.filter)
  const filtered = realm.hasRoles || Boolean(offered?.length) // by role

  const asked = list.params.has('new') && may(`${access}.create`) // from another page, to open the form for a new person
  const create = useEffectEvent(() => {
    if (list.params.get('new') === 'invite' && invites) inviting.show(true)
    else edited.show({})
    list.set({ new: undefined })
  })
  useEffect(() => {
    if (asked) create()
  }, [asked])

  const isOwn = (user: P) => realm.ours && user.id === info.info.id
  const activity = (user: P) => void navigate(`${path}/${user.id}/activity`, { state: { from: pathname + search } })

  return (
    <>
      <List<P>
        title={t(texts.title)}
        list={list}
        empty={t(texts.empty)}
        filters={
          <>
            {filters}
            <Filters list={list} realm={realm} roles={filtered ? (offered ?? []) : undefined} custom={custom} />
          </>
        }
        create={may(`${access}.create`) && <CreateButton onClick={() => edited.show({})}>{t(texts.create)}</CreateButton>}
        actions={
          <>
            {invites && (
              <Button icon={<MailOutlined />} aria-label={t('people.invite.several')} title={t('people.invite.several')} onClick={() => inviting.show(true)} />
            )}
            <Whole realm={realm} params={list.params} onImport={() => importing.show(true)} />
          </>
        }
        columns={[
          {
            title: t('people.user'),
            ...list.order('username'),
            render: (_, user) => (
              <>
                <Who user={user} own={isOwn(user)} to={`${path}/${user.id}`} />
                {mark?.(user)}
              </>
            ),
          },
          roles,
          { title: t('people.contact'), key: 'contact', render: (_, user) => <Contact user={user} /> },
          ...fieldColumns<P>(custom),
          {
            title: t('enabled'),
            dataIndex: 'status',
            render: (_, user) => <StatusSwitch user={user} realm={realm} own={isOwn(user)} reload={list.reload} />,
          },
          {
            title: t('people.login_time'),
            ...list.order('login_time'),
            render: (at: string | null) => (
              <div className={crowded ? 'narrow' : undefined}>
                {at ? <Time at={at} /> : <Typography.Text type="secondary">{t('people.never')}</Typography.Text>}
              </div>
            ),
          },
          { title: t('created_at'), ...list.order('created_at'), responsive: crowded ? ['xxl'] : undefined, render: (at: string) => <Time at={at} /> },
          actionsColumn((user) => {
            const acts = personActions<P>({ user, own: isOwn(user), realm, people, may })
            return (
              <Actions
                first={may(`${access}.update`) && { label: t('edit'), onClick: () => edited.show({ user }) }}
                called={t('people.edit_name', { name: user.username })}
                label={t('people.more_name', { name: user.username })}
                more={[
                  acts.link,
                  acts.reset,
                  acts.unfactor,
                  acts.act,
                  acts.sessions,
                  explain !== undefined && { label: t('people.explain'), onClick: () => explain(user) },
                  may('system.audit.query') && { label: t('menu.system.audit'), onClick: () => activity(user) },
                  acts.data,
                  acts.remove,
                  acts.erase,
                ]}
              />
            )
          }),
        ]}
        batch={batch && ((chosen, whole) => <Suspense>{batch({ chosen, whole, people })}</Suspense>)}
        wholes={wholes}
        table={table}
      />
      <Panel of={edited}>{(of, open) => form({ ...of, open, custom, onClose: edited.hide, onSaved: () => void list.reload(), onMade: people.tell })}</Panel>
      <Panel of={inviting}>{(_, open) => <InvitePeople realm={realm} open={open} onClose={inviting.hide} onDone={list.reload} />}</Panel>
      <Panel of={importing}>{(_, open) => <Import realm={realm} open={open} onClose={importing.hide} onDone={() => void list.reload()} />}</Panel>
      {people.panels}
    </>
  )
}
