import { Flex } from 'antd'
import { lazy, type MouseEvent, Suspense } from 'react'
import { useLocation, useNavigate, useParams } from 'react-router'
import type { User } from '../../api/types'
import { useAccount } from '../../app/account'
import { loadTexts, t } from '../../i18n'
import { DeptLink } from '../../ui/DeptLink'
import { RoleTags } from '../../ui/RoleTags'
import { useChoices } from '../../ui/useChoices'
import { useGet } from '../../ui/useGet'
import { Panel, usePanel } from '../../ui/usePanel'
import { useTable } from '../../ui/useTable'
import { useWider } from '../../ui/useWider'
import { Cell } from './cells'
import { deptsWidth } from './depts-open'
import { People } from './People'
import { ofUser, type Subject } from './person'
import { backend } from './realm'

const Person = lazy(async () => ({ default: (await import('./Person')).Person }))
const UserBatch = lazy(async () => ({ default: (await import('./UserBatch')).UserBatch }))
const Depts = lazy(async () => ({ default: (await import('./Depts')).Depts }))
const DeptSelect = lazy(async () => ({ default: (await import('./DeptSelect')).DeptSelect }))
const UserForm = lazy(async () => ({ default: (await import('./UserForm')).UserForm }))
const Explain = lazy(async () => ({ default: (await Promise.all([import('./Explain'), loadTexts('actions')]))[0].Explain }))

type Dept = { id: number; status: number; children?: Dept[] }

// Users is the user list; the page of a user is at its ID.
export function Users() {
  return useParams()['*'] ? <Person /> : <UserList />
}

// UserList lists users beside the department tree.
function UserList() {
  const navigate = useNavigate()
  const { pathname, search } = useLocation()
  const { may } = useAccount()
  const xl = useWider('xl')
  const list = useTable<User>(backend.path, {}, { own: ['new'] })
  const reads = may('admin.dept.query')
  const whole = useGet(reads ? '/admin/dept' : '').data?.data
  const named = useChoices('dept', !reads)
  const depts = reads ? whole : named
  const explained = usePanel<Subject>()
  const dept = list.params.get('dept_id') ?? undefined
  const choose = (id?: string) => list.set({ dept_id: id })
  const wholes = may('admin.list.status') || may('admin.list.update') || may('admin.invite.create') || may('admin.list.delete') || may('system.session.delete')

  return (
    <Flex gap={16} align="start">
      {xl &&
        reads &&
        (whole ? (
          <Suspense fallback={<Room />}>
            <Depts depts={whole} value={dept} onChange={choose} />
          </Suspense>
        ) : (
          <Room />
        ))}
      <div style={{ flex: 1, minWidth: 0 }}>
        <People<User>
          realm={backend}
          list={list}
          crowded
          filters={
            (reads ? !xl : Boolean(named?.length)) && (
              <Suspense fallback={<div style={{ width: 200, height: 32 }} />}>
                <DeptSelect depts={depts} value={dept} onChange={choose} />
              </Suspense>
            )
          }
          roles={{ title: t('people.belongs'), key: 'belongs', render: (_, user) => <Belongs user={user} /> }}
          form={(props) => <UserForm {...props} dept={enabled(depts, Number(dept)) ? Number(dept) : 0} />}
          batch={wholes ? (props) => <UserBatch {...props} params={list.params} reload={list.reload} /> : undefined}
          wholes={wholes}
          explain={may('admin.rule.query') ? (user) => explained.show(ofUser(user)) : undefined}
          table={{
            onRow: (user) => ({
              style: { cursor: 'pointer' },
              onClick: (e) => {
                if (meant(e)) void navigate(`/admin/list/${user.id}`, { state: { from: pathname + search } })
              },
            }),
          }}
        />
      </div>
      <Panel of={explained}>{(of, open) => <Explain open={open} of={of} onClose={explained.hide} />}</Panel>
    </Flex>
  )
}

// Belongs is a user's department, with the roles below.
function Belongs({ user }: { user: User }) {
  if (!user.dept_name && user.role_names.length === 0) return <>—</>
  return (
    <Flex vertical gap={4} align="start">
      {user.dept_name && (
        <Cell width={176}>
          <DeptLink id={user.dept_id} name={user.dept_name} />
        </Cell>
      )}
      {user.role_names.length > 0 && <RoleTags ids={user.role_ids} names={user.role_names} most={2} />}
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
const enabled = (nodes: Dept[] = [], id: number): boolean => nodes.some((node) => (node.id === id && node.status === 1) || enabled(node.children ?? [], id))

// Reserves room for the departments until they are loaded, so that nothing jumps.
function Room() {
  return <div style={{ flex: `0 0 ${deptsWidth()}px` }} />
}
