import { Typography } from 'antd'
import { lazy, Suspense, useEffect, useEffectEvent } from 'react'
import type { AppRole, AppUser } from '../../api/types'
import { useNavigate, useParams } from 'react-router'
import { useAccount } from '../../app/account'
import { t } from '../../i18n'
import { CreateButton } from '../../ui/CreateButton'
import { Actions, actionsColumn } from '../../ui/Actions'
import { List } from '../../ui/List'
import { Time } from '../../ui/Time'
import { useAll } from '../../ui/useAll'
import { usePanel } from '../../ui/usePanel'
import { useTable } from '../../ui/useTable'
import { fieldColumns } from '../fields/places'
import { useForms } from '../fields/useForms'
import { Contact, Who } from './cells'
import { Filters } from './Filters'
import { app } from './person'
import { Pending } from './Pending'
import { linkAction } from './linkAction'
import { Roles } from './Roles'
import { StatusSwitch } from './StatusSwitch'
import { usePeople } from './usePeople'
import { Whole } from './Whole'

const AppPerson = lazy(async () => ({ default: (await import('./AppPerson')).AppPerson }))
const Import = lazy(async () => ({ default: (await import('./Import')).Import }))
const Batch = lazy(async () => ({ default: (await import('./Batch')).Batch }))
const AppUserForm = lazy(async () => ({ default: (await import('./AppUserForm')).AppUserForm }))

// AppUsers is the list of app users; the page of an app user is at its ID.
export function AppUsers() {
  return useParams()['*'] ? <AppPerson /> : <AppUserList />
}

// AppUserList lists the users of the product behind this backend.
function AppUserList() {
  const { may } = useAccount()
  const list = useTable<AppUser>('/user/list', {}, { own: ['new'] })
  const people = usePeople<AppUser>(app, list.reload)
  const importing = usePanel<true>()
  const navigate = useNavigate()
  const form = usePanel<{ user?: AppUser; invite?: boolean }>()
  const custom = useForms().app_users
  const roles = useAll<AppRole>(may('user.role.query') ? '/user/role' : '').rows

  const asked = list.params.has('new') && may('user.list.create') // from another page, to open the form for a new app user
  const create = useEffectEvent(() => {
    form.show({ invite: list.params.get('new') === 'invite' })
    list.set({ new: undefined })
  })
  useEffect(() => {
    if (asked) create()
  }, [asked])

  return (
    <>
      <List<AppUser>
        title={t('menu.user.list')}
        list={list}
        empty={t('people.app.empty')}
        filters={<Filters list={list} roles={roles?.length ? roles : undefined} custom={custom} />}
        actions={
          <>
            {may('user.list.create') && <CreateButton onClick={() => form.show({})}>{t('people.app.create')}</CreateButton>}
            <Whole realm={app} params={list.params} onImport={() => importing.show(true)} />
          </>
        }
        columns={[
          {
            title: t('people.user'),
            ...list.order('username'),
            render: (_, user) => (
              <>
                <Who user={user} to={`/user/list/${user.id}`} />
                <Pending user={user} />
              </>
            ),
          },
          { title: t('people.roles'), key: 'roles', render: (_, user) => (user.role_names.length ? <Roles user={user} /> : '—') },
          { title: t('people.contact'), key: 'contact', render: (_, user) => <Contact user={user} /> },
          ...fieldColumns<AppUser>(custom),
          {
            title: t('enabled'),
            dataIndex: 'status',
            render: (_, user) => <StatusSwitch user={user} path={app.path} may={may('user.list.status')} reload={list.reload} />,
          },
          {
            title: t('people.login_time'),
            ...list.order('login_time'),
            render: (at: string | null) => (at ? <Time at={at} /> : <Typography.Text type="secondary">{t('people.never')}</Typography.Text>),
          },
          { title: t('created_at'), ...list.order('created_at'), render: (at: string) => <Time at={at} /> },
          actionsColumn((user) => (
            <Actions
              first={may('user.list.update') && { label: t('edit'), onClick: () => form.show({ user }) }}
              called={t('people.edit_name', { name: user.username })}
              label={t('people.more_name', { name: user.username })}
              more={[
                linkAction(people.links, user, app, may),
                may('user.list.password') && { label: t('people.reset'), onClick: () => people.reset(user) },
                may('user.list.factor') && user.second_factor === 1 && { label: t('people.factor'), onClick: () => void people.unfactor(user) },
                may('system.session.query') && { label: t('people.sessions'), onClick: () => people.sessions(user) },
                may('system.audit.query') && { label: t('menu.system.audit'), onClick: () => void navigate(`/user/list/${user.id}/activity`) },
                may('user.list.data') && { label: t('people.data'), onClick: () => void people.data(user) },
                may('user.list.delete') && { label: t('delete'), danger: true, onClick: () => void people.remove(user) },
                may('user.list.erase') && { label: t('people.erase'), danger: true, onClick: () => people.erase(user) },
              ]}
            />
          )),
        ]}
        batch={
          may('user.list.status') || may('user.list.delete') || may('user.invite.create')
            ? (chosen) => (
                <Suspense>
                  <Batch
                    chosen={chosen}
                    people={people}
                    switches={may('user.list.status')}
                    remove={may('user.list.delete')}
                    invite={may('user.invite.create')}
                  />
                </Suspense>
              )
            : undefined
        }
      />
      <Suspense>
        {form.of && (
          <AppUserForm
            open={form.open}
            user={form.of.user}
            invite={form.of.invite}
            custom={custom}
            onClose={form.hide}
            onSaved={() => void list.reload()}
            onMade={people.tell}
          />
        )}
      </Suspense>
      <Suspense>{importing.of && <Import realm={app} open={importing.open} onClose={importing.hide} onDone={() => void list.reload()} />}</Suspense>
      {people.panels}
    </>
  )
}
