import { App, Switch, Tag } from 'antd'
import { lazy, Suspense, useState } from 'react'
import { Link, useNavigate } from 'react-router'
import { Failure, post, put } from '../../api/request'
import type { AppRole } from '../../api/types'
import { useAccount } from '../../app/account'
import { t } from '../../i18n'
import { CreateButton } from '../../ui/CreateButton'
import { Actions, actionsColumn } from '../../ui/Actions'
import { List } from '../../ui/List'
import { activity } from '../../ui/log/address'
import { StatusFilter } from '../../ui/StatusFilter'
import { Time } from '../../ui/Time'
import { useAction } from '../../ui/useAction'
import { useLastValue } from '../../ui/useLastValue'
import { useRemove } from '../../ui/useRemove'
import { useTable } from '../../ui/useTable'
import { RoleName } from './RoleName'
import { people } from './words'

const AppRoleDrawer = lazy(async () => ({ default: (await import('./AppRoleDrawer')).AppRoleDrawer }))

// AppRoles lists the roles of app users.
export function AppRoles() {
  const { may } = useAccount()
  const { confirm, notify } = useAction()
  const removing = useRemove()
  const { modal } = App.useApp()
  const navigate = useNavigate()
  const list = useTable<AppRole>('/user/role')
  const [edits, setEdits] = useState<{ role?: AppRole }>()
  const drawn = useLastValue(edits) // the drawer is loaded when first opened

  async function enable(role: AppRole, to: 0 | 1, asked = false) {
    const { name } = role
    if (
      !to &&
      !asked &&
      !(await confirm({ title: t('role.disable', { name }), text: t('role.disable.text', { people: people(role.user_count) }), ok: t('rule.disable.ok') }))
    )
      return
    try {
      const record = await put(`/user/role/${role.id}`, { status: to, updated_at: role.updated_at })
      notify(t(to ? 'role.enabled' : 'role.disabled', { name }), () => enable(record, to ? 0 : 1, true))
    } catch (cause) {
      if (!(cause instanceof Failure)) throw cause // already shown
    }
    await list.reload()
  }

  async function remove(role: AppRole) {
    const { name } = role
    if (role.user_count) {
      modal.info({ title: t('role.in_use', { name }), content: t('role.in_use.text', { people: people(role.user_count) }), okText: t('close') })
      return
    }
    const removed = await removing({
      path: `/user/role/${role.id}`,
      question: { title: t('role.delete', { name }), text: t('app_role.delete.text'), ok: t('delete') },
      message: t('deleted', { name }),
      needs: ['user.role.create', 'user.role.rule', 'user.role.update'],
      restore: may('user.role.create') && may('user.role.rule') ? () => restore(role) : undefined,
    })
    if (removed) await list.reload()
  }

  async function restore({ description, name, sort, status, default: given, rule_ids }: AppRole) {
    const { id } = await post('/user/role', { description, name, sort, status, default: given })
    await put(`/user/role/${id}/rule`, { rule_ids })
    await list.reload()
  }

  const opens = may('user.role.update') || may('user.role.rule')
  return (
    <>
      <List<AppRole>
        title={t('menu.user.role')}
        list={list}
        empty={t('app_role.empty')}
        filters={<StatusFilter list={list} width={140} />}
        actions={may('user.role.create') && <CreateButton onClick={() => setEdits({})}>{t('role.create')}</CreateButton>}
        columns={[
          {
            title: t('name'),
            ...list.order('name'),
            width: 280,
            render: (_, role) => (
              <RoleName role={role} onOpen={opens ? () => setEdits({ role }) : undefined}>
                {role.default === 1 && <Tag variant="filled">{t('app_role.default.tag')}</Tag>}
              </RoleName>
            ),
          },
          {
            title: t('enabled'),
            dataIndex: 'status',
            render: (status: number, role) =>
              may('user.role.update') ? (
                <Switch size="small" checked={status === 1} aria-label={`${t('enabled')}: ${role.name}`} onChange={(on) => void enable(role, on ? 1 : 0)} />
              ) : (
                t(status ? 'yes' : 'no')
              ),
          },
          { title: t('role.permissions'), dataIndex: 'rule_ids', align: 'end', render: (ids: number[]) => ids.length },
          {
            title: t('role.holders'),
            dataIndex: 'user_count',
            render: (n: number, role) => (n > 0 && may('user.list.query') ? <Link to={`/user/list?role_id=${role.id}`}>{people(n)}</Link> : people(n)),
          },
          { title: t('updated_at'), dataIndex: 'updated_at', render: (at: string) => <Time at={at} /> },
          actionsColumn((role) => (
            <Actions
              first={opens && { label: t('edit'), onClick: () => setEdits({ role }) }}
              label={t('tree.more', { name: role.name })}
              more={[
                may('system.audit.query') && {
                  label: t('menu.system.audit'),
                  onClick: () => void navigate(activity({ collection: 'app_role', record: role.id })),
                },
                may('user.role.delete') && { label: t('delete'), danger: true, onClick: () => void remove(role) },
              ]}
            />
          )),
        ]}
      />
      <Suspense>{drawn && <AppRoleDrawer edits={edits} onClose={() => setEdits(undefined)} saved={list.reload} />}</Suspense>
    </>
  )
}
