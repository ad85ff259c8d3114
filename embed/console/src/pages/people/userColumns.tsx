import { Flex, type TableProps, Typography } from 'antd'
import type { Access, FieldForm, User } from '../../api/types'
import { t } from '../../i18n'
import { Actions, actionsColumn } from '../../ui/Actions'
import { Time } from '../../ui/Time'
import type { useTable } from '../../ui/useTable'
import { fieldColumns } from '../fields/places'
import { backend } from './person'
import { Cell, Contact, Who } from './cells'
import { linkAction } from './linkAction'
import { Roles } from './Roles'
import { StatusSwitch } from './StatusSwitch'
import type { People } from './usePeople'

type Props = {
  list: ReturnType<typeof useTable<User>>
  custom: FieldForm[]
  own: number
  may: (key: Access) => boolean
  people: People<User>
  edit: (user: User) => void
  explain: (user: User) => void
  activity: (user: User) => void
}

export function userColumns({ list, custom, own, may, people, edit, explain, activity }: Props): TableProps<User>['columns'] {
  return [
    { title: t('people.user'), ...list.order('username'), render: (_, user) => <Who user={user} own={user.id === own} to={`/admin/list/${user.id}`} /> },
    { title: t('people.belongs'), key: 'belongs', render: (_, user) => <Belongs user={user} /> },
    { title: t('people.contact'), key: 'contact', render: (_, user) => <Contact user={user} /> },
    ...fieldColumns<User>(custom),
    {
      title: t('enabled'),
      dataIndex: 'status',
      render: (_, user) => <StatusSwitch user={user} path={backend.path} may={may('admin.list.status')} own={user.id === own} reload={list.reload} />,
    },
    {
      title: t('people.login_time'),
      ...list.order('login_time'),
      render: (at: string | null) => (
        <div className="narrow">{at ? <Time at={at} /> : <Typography.Text type="secondary">{t('people.never')}</Typography.Text>}</div>
      ),
    },
    { title: t('created_at'), ...list.order('created_at'), responsive: ['xxl'], render: (at: string) => <Time at={at} /> },
    actionsColumn((user) => (
      <Actions
        first={may('admin.list.update') && { label: t('edit'), onClick: () => edit(user) }}
        called={t('people.edit_name', { name: user.username })}
        label={t('people.more_name', { name: user.username })}
        more={[
          user.id !== own && linkAction(people.links, user, backend, may),
          may('admin.list.password') && user.id !== own && { label: t('people.reset'), onClick: () => people.reset(user) },
          may('admin.list.factor') && user.second_factor === 1 && user.id !== own && { label: t('people.factor'), onClick: () => void people.unfactor(user) },
          may('admin.list.act_as') && user.id !== own && user.status === 1 && { label: t('people.act_as'), onClick: () => people.act(user) },
          may('system.session.query') && { label: t('people.sessions'), onClick: () => people.sessions(user) },
          may('admin.rule.query') && { label: t('people.explain'), onClick: () => explain(user) },
          may('system.audit.query') && { label: t('menu.system.audit'), onClick: () => activity(user) },
          may('admin.list.data') && { label: t('people.data'), onClick: () => void people.data(user) },
          may('admin.list.delete') && user.id !== own && { label: t('delete'), danger: true, onClick: () => void people.remove(user) },
          may('admin.list.erase') && user.id !== own && { label: t('people.erase'), danger: true, onClick: () => people.erase(user) },
        ]}
      />
    )),
  ]
}

// Belongs is a user's department, with the roles below.
function Belongs({ user }: { user: User }) {
  if (!user.dept_name && user.role_names.length === 0) return <>—</>
  return (
    <Flex vertical gap={4} align="start">
      {user.dept_name && <Cell width={176}>{user.dept_name}</Cell>}
      {user.role_names.length > 0 && <Roles user={user} />}
    </Flex>
  )
}
