import { App, Button, type TableProps } from 'antd'
import type { ComponentProps, ReactNode } from 'react'
import { Link, useNavigate } from 'react-router'
import { put } from '../../api/request'
import type { AppRole, Role } from '../../api/types'
import { useAccount } from '../../app/account'
import { type Key, t } from '../../i18n'
import { Actions, actionsColumn } from '../../ui/Actions'
import { CreateButton } from '../../ui/CreateButton'
import { List } from '../../ui/List'
import { activity } from '../../ui/log/address'
import { StatusFilter } from '../../ui/StatusFilter'
import { Time } from '../../ui/Time'
import { useAction } from '../../ui/useAction'
import { useRemove } from '../../ui/useRemove'
import type { useTable } from '../../ui/useTable'
import type { Realm } from '../people/realm'
import { Flag } from './Flag'
import { people } from './words'

type Either = Role | AppRole
type Action = ComponentProps<typeof Actions>['first']

type Props<R extends Either> = {
  realm: {
    path: Realm['roles']
    access: Realm['role']
    collection: 'role' | 'app_role'
    people: Pick<Realm, 'path' | 'access'>
    texts: { title: Key; empty: Key; remove: Key }
  }
  list: ReturnType<typeof useTable<R>>
  name: (role: R) => ReactNode // its cell
  permissions?: (role: R) => ReactNode // its cell, instead of their number
  columns?: NonNullable<TableProps<R>['columns']> // before the permissions
  fixed?: (role: R) => boolean // whether the user can't change a role
  first: (role: R) => Action
  edit?: (role: R) => Action
  onCreate: () => void
  onCopy: (role: R) => void
  onCompare?: (ids: number[]) => void // with one or two; undefined without permission
  again: (role: R) => Promise<Either> // creates a deleted role without its permissions
}

const never = () => false

// RoleList is the list of the roles of either realm.
export function RoleList<R extends Either>({
  realm,
  list,
  name,
  permissions,
  columns = [],
  fixed = never,
  first,
  edit,
  onCreate,
  onCopy,
  onCompare,
  again,
}: Props<R>) {
  const { may } = useAccount()
  const { confirm, notify } = useAction()
  const removing = useRemove()
  const { modal } = App.useApp()
  const navigate = useNavigate()
  const { path, access, texts, people: holders } = realm

  async function enable(role: Either, to: 0 | 1, asked = false) {
    const { name } = role
    const text = t('role.disable.text', { people: people(role.user_count) })
    if (!to && !asked && !(await confirm({ title: t('role.disable', { name }), text, ok: t('rule.disable.ok') }))) return
    try {
      const record = await put(`${path}/${role.id}`, { status: to, updated_at: role.updated_at })
      notify(t(to ? 'role.enabled' : 'role.disabled', { name }), () => enable(record, to ? 0 : 1, true))
    } finally {
      await list.reload()
    }
  }

  async function remove(role: R) {
    const { name } = role
    if (role.user_count) {
      modal.info({ title: t('role.in_use', { name }), content: t('role.in_use.text', { people: people(role.user_count) }), okText: t('close') })
      return
    }
    const removed = await removing({
      path: `${path}/${role.id}`,
      question: { title: t('role.delete', { name }), text: t(texts.remove), ok: t('delete') },
      message: t('deleted', { name }),
      needs: [`${access}.create`, `${access}.rule`, `${access}.update`],
      restore: may(`${access}.create`) && may(`${access}.rule`) ? () => restore(role) : undefined,
    })
    if (removed) await list.reload()
  }

  async function restore(role: R) {
    const { id } = await again(role)
    await put(`${path}/${id}/rule`, { rule_ids: role.rule_ids })
    await list.reload()
  }

  const compare = (role: R) =>
    onCompare !== undefined && (list.total > 1 || list.narrowed) && { label: t('role.compare.with'), onClick: () => onCompare([role.id]) }

  return (
    <List<R>
      title={t(texts.title)}
      list={list}
      empty={t(texts.empty)}
      filters={<StatusFilter list={list} width={140} />}
      create={may(`${access}.create`) && <CreateButton onClick={onCreate}>{t('role.create')}</CreateButton>}
      batch={
        onCompare
          ? (chosen) => (
              <Button disabled={chosen.length !== 2} onClick={() => onCompare(chosen.map(({ id }) => id))}>
                {t('role.compare')}
              </Button>
            )
          : undefined
      }
      columns={[
        { title: t('name'), ...list.order('name'), width: 280, render: (_, role) => name(role) },
        {
          title: t('enabled'),
          dataIndex: 'status',
          render: (_, role) => <Flag on={role.status} of={role.name} turn={may(`${access}.update`) && !fixed(role) ? (to) => enable(role, to) : undefined} />,
        },
        ...columns,
        {
          title: t('role.permissions'),
          dataIndex: 'rule_ids',
          align: 'end',
          render: (ids: number[], role) => permissions?.(role) ?? ids.length,
        },
        {
          title: t('role.holders'),
          dataIndex: 'user_count',
          render: (n: number, role) =>
            n > 0 && may(`${holders.access}.query`) ? <Link to={`${holders.path}?role_id=${role.id}`}>{people(n)}</Link> : people(n),
        },
        { title: t('updated_at'), dataIndex: 'updated_at', render: (at: string) => <Time at={at} /> },
        actionsColumn((role) => (
          <Actions
            first={first(role)}
            label={t('tree.more', { name: role.name })}
            more={
              fixed(role)
                ? [compare(role)]
                : [
                    edit?.(role) ?? false,
                    may(`${access}.create`) && may(`${access}.rule`) && { label: t('role.copy'), onClick: () => onCopy(role) },
                    compare(role),
                    may('system.audit.query') && {
                      label: t('menu.system.audit'),
                      onClick: () => void navigate(activity({ collection: realm.collection, record: role.id })),
                    },
                    may(`${access}.delete`) && { label: t('delete'), danger: true, onClick: () => void remove(role) },
                  ]
            }
          />
        )),
      ]}
    />
  )
}
