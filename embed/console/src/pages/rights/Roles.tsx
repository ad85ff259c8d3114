import { lazy, Suspense, useState } from 'react'
import { useLocation, useNavigate, useParams } from 'react-router'
import { post } from '../../api/request'
import type { Role } from '../../api/types'
import { useAccount } from '../../app/account'
import { type Key, loadTexts, t } from '../../i18n'
import { useLastValue } from '../../ui/useLastValue'
import { useTable } from '../../ui/useTable'
import { RoleList } from './RoleList'
import { RoleName } from './RoleName'
import { beyond, useCeiling } from './useCeiling'
import { ownerRole } from './words'

const RoleDrawer = lazy(async () => ({ default: (await import('./RoleDrawer')).RoleDrawer }))
const RightsDrawer = lazy(async () => ({ default: (await import('./RightsDrawer')).RightsDrawer }))
const CompareDrawer = lazy(async () => ({ default: (await Promise.all([import('./CompareDrawer'), loadTexts('overlays')]))[0].CompareDrawer }))

const realm = {
  path: '/admin/role',
  access: 'admin.role',
  collection: 'role',
  people: { path: '/admin/list', access: 'admin.list' },
  texts: { title: 'menu.admin.role', empty: 'role.empty', remove: 'role.delete.text' },
} as const

// Roles is the role list. The permissions of a role are at its ID in the URL.
export function Roles() {
  const { may } = useAccount()
  const navigate = useNavigate()
  const search = useLocation().search
  const opened = Number(useParams()['*']) || undefined
  const ceiling = useCeiling()
  const list = useTable<Role>('/admin/role')
  const [edits, setEdits] = useState<{ role?: Role; copy?: Role }>()
  const [compared, setCompared] = useState<number[]>() // as the drawer takes it, which is loaded when first opened
  const drawn = { edits: useLastValue(edits), opened: useLastValue(opened) } // drawers are loaded when first opened
  const show = (id?: number) => void navigate(`/admin/role${id ? `/${id}` : ''}${search}`)

  return (
    <>
      <RoleList<Role>
        realm={realm}
        list={list}
        name={(role) => <RoleName role={role} to={`/admin/role/${role.id}${search}`} />}
        columns={[
          {
            title: t('role.scope'),
            dataIndex: 'data_scope',
            render: (scope: string, role) => (scope === 'custom' ? t('role.scope.n', { n: role.dept_ids.length }) : t(`role.scope.${scope}` as Key)),
          },
        ]}
        permissions={(role) => (role.id === ownerRole ? t('all') : undefined)}
        fixed={(role) => role.id === ownerRole || (ceiling !== undefined && beyond(role, ceiling))}
        first={(role) => ({ label: t('role.rights'), onClick: () => show(role.id) })}
        edit={(role) => may('admin.role.update') && { label: t('edit'), onClick: () => setEdits({ role }) }}
        onCreate={() => setEdits({})}
        onCopy={(copy) => setEdits({ copy })}
        onCompare={may('admin.rule.query') || may('admin.role.rule') ? setCompared : undefined}
        again={({ description, name, sort, status, data_scope, dept_ids, grant_role_ids, require_factor, password_off }) =>
          post('/admin/role', { description, name, sort, status, data_scope, dept_ids, grant_role_ids, require_factor, password_off })
        }
      />
      <Suspense>
        {drawn.edits && (
          <RoleDrawer
            edits={edits}
            ceiling={ceiling}
            onClose={() => setEdits(undefined)}
            saved={async (role, isNew) => {
              await list.reload()
              if (isNew) show(role.id)
            }}
          />
        )}
        {drawn.opened && <RightsDrawer id={opened} ceiling={ceiling} onClose={() => show()} saved={list.reload} />}
        {compared && <CompareDrawer ids={compared} realm={realm} onClose={() => setCompared([])} />}
      </Suspense>
    </>
  )
}
