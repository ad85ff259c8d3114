import { Flex } from 'antd'
import { lazy, type MouseEvent, Suspense, useEffect, useEffectEvent } from 'react'
import { useLocation, useNavigate, useParams } from 'react-router'
import type { DeptNode, Role, User } from '../../api/types'
import { useAccount } from '../../app/account'
import { loadTexts, t } from '../../i18n'
import { CreateButton } from '../../ui/CreateButton'
import { List } from '../../ui/List'
import { useAll } from '../../ui/useAll'
import { useGet } from '../../ui/useGet'
import { usePanel } from '../../ui/usePanel'
import { useTable } from '../../ui/useTable'
import { useWider } from '../../ui/useWider'
import { useForms } from '../fields/useForms'
import { backend, ofUser, type Subject } from './person'
import { deptsWidth } from './depts-open'
import { Filters } from './Filters'
import { usePeople } from './usePeople'
import { userColumns } from './userColumns'
import { Whole } from './Whole'

const Person = lazy(async () => ({ default: (await import('./Person')).Person }))
const Import = lazy(async () => ({ default: (await import('./Import')).Import }))
const UserBatch = lazy(async () => ({ default: (await import('./UserBatch')).UserBatch }))
const Depts = lazy(async () => ({ default: (await import('./Depts')).Depts }))
const DeptSelect = lazy(async () => ({ default: (await import('./DeptSelect')).DeptSelect }))
const UserForm = lazy(async () => ({ default: (await import('./UserForm')).UserForm }))
const Explain = lazy(async () => ({ default: (await Promise.all([import('./Explain'), loadTexts('actions')]))[0].Explain }))

// Users is the user list; the page of a user is at its ID.
export function Users() {
  return useParams()['*'] ? <Person /> : <UserList />
}

// UserList lists users beside the department tree.
function UserList() {
  const navigate = useNavigate()
  const { pathname, search } = useLocation()
  const { info, may } = useAccount()
  const xl = useWider('xl')
  const list = useTable<User>('/admin/list', {}, { own: ['new'] })
  const depts = useGet(may('admin.dept.query') ? '/admin/dept' : '').data?.data
  const roles = useAll<Role>(may('admin.role.query') ? '/admin/role' : '').rows
  const people = usePeople<User>(backend, list.reload)
  const importing = usePanel<true>()
  const form = usePanel<{ user?: User; invite?: boolean }>()
  const explained = usePanel<Subject>()
  const custom = useForms().users

  const asked = list.params.has('new') && may('admin.list.create') // from another page, to open the form for a new user
  const create = useEffectEvent(() => {
    form.show({ invite: list.params.get('new') === 'invite' })
    list.set({ new: undefined })
  })
  useEffect(() => {
    if (asked) create()
  }, [asked])

  const own = info.info.id
  const dept = list.params.get('dept_id') ?? undefined
  const choose = (id?: string) => list.set({ dept_id: id })

  return (
    <Flex gap={16} align="start">
      {xl &&
        may('admin.dept.query') &&
        (depts ? (
          <Suspense fallback={<Room />}>
            <Depts depts={depts} value={dept} onChange={choose} />
          </Suspense>
        ) : (
          <Room />
        ))}
      <div style={{ flex: 1, minWidth: 0 }}>
        <List<User>
          title={t('menu.admin.list')}
          list={list}
          empty={t('people.empty')}
          filters={
            <>
              {!xl && may('admin.dept.query') && (
                <Suspense fallback={<div style={{ width: 200, height: 32 }} />}>
                  <DeptSelect depts={depts} value={dept} onChange={choose} />
                </Suspense>
              )}
              <Filters list={list} roles={may('admin.role.query') ? (roles ?? []) : undefined} custom={custom} sex />
            </>
          }
          actions={
            <>
              {may('admin.list.create') && <CreateButton onClick={() => form.show({})}>{t('people.create')}</CreateButton>}
              <Whole realm={backend} params={list.params} onImport={() => importing.show(true)} />
            </>
          }
          columns={userColumns({
            list,
            custom,
            own,
            may,
            people,
            edit: (user) => form.show({ user }),
            explain: (user) => explained.show(ofUser(user)),
            activity: (user) => void navigate(`/admin/list/${user.id}/activity`, { state: { from: pathname + search } }),
          })}
          batch={
            may('admin.list.status') || may('admin.list.update') || may('admin.list.delete') || may('admin.invite.create')
              ? (chosen, whole) => (
                  <Suspense>
                    <UserBatch chosen={chosen} whole={whole} params={list.params} reload={list.reload} people={people} />
                  </Suspense>
                )
              : undefined
          }
          table={{
            onRow: (user) => ({
              style: { cursor: 'pointer' },
              onClick: (e) => {
                if (meant(e)) void navigate(`/admin/list/${user.id}`, { state: { from: pathname + search } })
              },
            }),
          }}
          wholes={may('admin.list.status') || may('admin.list.update') || may('admin.invite.create')}
        />
      </div>
      <Suspense>
        {form.of && (
          <UserForm
            open={form.open}
            user={form.of.user}
            invite={form.of.invite}
            own={form.of.user?.id === own}
            custom={custom}
            dept={enabled(depts, Number(dept)) ? Number(dept) : 0}
            onClose={form.hide}
            onSaved={() => void list.reload()}
            onMade={people.tell}
          />
        )}
        {explained.of && <Explain open={explained.open} of={explained.of} onClose={explained.hide} />}
      </Suspense>
      <Suspense>{importing.of && <Import realm={backend} open={importing.open} onClose={importing.hide} onDone={() => void list.reload()} />}</Suspense>
      {people.panels}
    </Flex>
  )
}

// meant reports whether a click was on the row itself, and not on a control in it or on a
// menu or dialog opened from it.
function meant(e: MouseEvent<HTMLElement>): boolean {
  const target = e.target as Element
  return e.currentTarget.contains(target) && !target.closest('a, button, input, label, .ant-table-selection-column') && getSelection()?.isCollapsed !== false
}

// enabled reports whether a department is known and enabled, so that new users can be put into it.
const enabled = (nodes: DeptNode[] = [], id: number): boolean => nodes.some((node) => (node.id === id && node.status === 1) || enabled(node.children ?? [], id))

// Reserves room for the departments until they are loaded, so that nothing jumps.
function Room() {
  return <div style={{ flex: `0 0 ${deptsWidth()}px` }} />
}
