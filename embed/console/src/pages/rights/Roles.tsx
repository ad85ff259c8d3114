import { App, Switch } from 'antd'
import { lazy, Suspense, useState } from 'react'
import { Link, useLocation, useNavigate, useParams } from 'react-router'
import { Failure, post, put } from '../../api/request'
import type { Role } from '../../api/types'
import { useAccount } from '../../app/account'
import { type Key, t } from '../../i18n'
import { CreateButton } from '../../ui/CreateButton'
import { Actions, actionsColumn } from '../../ui/Actions'
import { List } from '../../ui/List'
import { activity } from '../../ui/log/address'
import { StatusFilter } from '../../ui/StatusFilter'
import { Time } from '../../ui/Time'
import { useAction } from '../../ui/useAction'
import { useRemove } from '../../ui/useRemove'
import { useLastValue } from '../../ui/useLastValue'
import { useTable } from '../../ui/useTable'
import { RoleName } from './RoleName'
import { beyond, ownerRole, useCeiling } from './useCeiling'
import { people } from './words'

const RoleDrawer = lazy(async () => ({ default: (await import('./RoleDrawer')).RoleDrawer }))
const RightsDrawer = lazy(async () => ({ default: (await import('./RightsDrawer')).RightsDrawer }))

// Roles is the role list. The permissions of a role are at its ID in the URL.
export function Roles() {
  const { may } = useAccount()
  const { confirm, notify } = useAction()
  const removing = useRemove()
  const { modal } = App.useApp()
  const navigate = useNavigate()
  const search = useLocation().search
  const opened = Number(useParams()['*']) || undefined
  const ceiling = useCeiling()
  const list = useTable<Role>('/admin/role')
  const [edits, setEdits] = useState<{ role?: Role }>()
  const drawn = { edits: useLastValue(edits), opened: useLastValue(opened) } // drawers are loaded when first opened
  const show = (id?: number) => void navigate(`/admin/role${id ? `/${id}` : ''}${search}`)
  const fixed = (role: Role) => role.id === ownerRole || (ceiling !== undefined && beyond(role, ceiling))

  async function enable(role: Role, to: 0 | 1, asked = false) {
    const { name } = role
    if (
      !to &&
      !asked &&
      !(await confirm({ title: t('role.disable', { name }), text: t('role.disable.text', { people: people(role.user_count) }), ok: t('rule.disable.ok') }))
    )
      return
    try {
      const record = await put(`/admin/role/${role.id}`, { status: to, updated_at: role.updated_at })
      notify(t(to ? 'role.enabled' : 'role.disabled', { name }), () => enable(record, to ? 0 : 1, true))
    } catch (cause) {
      if (!(cause instanceof Failure)) throw cause // already shown
    }
    await list.reload()
  }

  async function remove(role: Role) {
    const { name } = role
    if (role.user_count) {
      modal.info({ title: t('role.in_use', { name }), content: t('role.in_use.text', { people: people(role.user_count) }), okText: t('close') })
      return
    }
    const removed = await removing({
      path: `/admin/role/${role.id}`,
      question: { title: t('role.delete', { name }), text: t('role.delete.text'), ok: t('delete') },
      message: t('deleted', { name }),
      needs: ['admin.role.create', 'admin.role.rule', 'admin.role.update'],
      restore: may('admin.role.create') && may('admin.role.rule') ? () => restore(role) : undefined,
    })
    if (removed) await list.reload()
  }

  async function restore({ description, name, sort, status, data_scope, dept_ids, grant_role_ids, rule_ids, require_factor }: Role) {
    const { id } = await post('/admin/role', { description, name, sort, status, data_scope, dept_ids, grant_role_ids, require_factor })
    await put(`/admin/role/${id}/rule`, { rule_ids })
    await list.reload()
  }

  return (
    <>
      <List<Role>
        title={t('menu.admin.role')}
        list={list}
        empty={t('role.empty')}
        filters={<StatusFilter list={list} width={140} />}
        actions={may('admin.role.create') && <CreateButton onClick={() => setEdits({})}>{t('role.create')}</CreateButton>}
        columns={[
          { title: t('name'), ...list.order('name'), width: 280, render: (_, role) => <RoleName role={role} to={`/admin/role/${role.id}${search}`} /> },
          {
            title: t('enabled'),
            dataIndex: 'status',
            render: (status: number, role) =>
              may('admin.role.update') && !fixed(role) ? (
                <Switch size="small" checked={status === 1} aria-label={`${t('enabled')}: ${role.name}`} onChange={(on) => void enable(role, on ? 1 : 0)} />
              ) : status ? (
                t('yes')
              ) : (
                t('no')
              ),
          },
          {
            title: t('role.scope'),
            dataIndex: 'data_scope',
            render: (scope: string, role) => (scope === 'custom' ? t('role.scope.n', { n: role.dept_ids.length }) : t(`role.scope.${scope}` as Key)),
          },
          {
            title: t('role.permissions'),
            dataIndex: 'rule_ids',
            align: 'end',
            render: (ids: number[], role) => (role.id === ownerRole ? t('all') : ids.length),
          },
          {
            title: t('role.holders'),
            dataIndex: 'user_count',
            render: (n: number, role) => (n > 0 && may('admin.list.query') ? <Link to={`/admin/list?role_id=${role.id}`}>{people(n)}</Link> : people(n)),
          },
          { title: t('updated_at'), dataIndex: 'updated_at', render: (at: string) => <Time at={at} /> },
          actionsColumn((role) => (
            <Actions
              first={{ label: t('role.rights'), onClick: () => show(role.id) }}
              label={t('tree.more', { name: role.name })}
              more={
                fixed(role)
                  ? []
                  : [
                      may('admin.role.update') && { label: t('edit'), onClick: () => setEdits({ role }) },
                      may('system.audit.query') && {
                        label: t('menu.system.audit'),
                        onClick: () => void navigate(activity({ collection: 'role', record: role.id })),
                      },
                      may('admin.role.delete') && { label: t('delete'), danger: true, onClick: () => void remove(role) },
                    ]
              }
            />
          )),
        ]}
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
      </Suspense>
    </>
  )
}
