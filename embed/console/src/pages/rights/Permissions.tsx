import { App, Switch, Tag, Typography } from 'antd'
import { lazy, Suspense } from 'react'
import { getAll } from '../../api/get-all'
import type { PermissionNode, Role } from '../../api/types'
import { useAccount } from '../../app/account'
import { type Key, t } from '../../i18n'
import { Icon } from '../../ui/icons'
import { below } from '../../ui/tree/model'
import { Marked } from '../../ui/tree/search'
import { TreeEditor } from '../../ui/tree/TreeEditor'
import { useTree } from '../../ui/tree/useTree'
import { useAction } from '../../ui/useAction'
import { useRemove } from '../../ui/useRemove'
import { useEdits } from './useEdits'
import { few, permissionName } from './words'
import { useLastValue } from '../../ui/useLastValue'

const PermissionDrawer = lazy(async () => ({ default: (await import('./PermissionDrawer')).PermissionDrawer }))

const action = 2

// Permissions is the tree of menus, pages and actions.
export function Permissions() {
  const { may, reload: reloadAccount } = useAccount()
  const { confirm, notify } = useAction()
  const removing = useRemove()
  const { modal } = App.useApp()
  const { tree, set, reload, change } = useTree<PermissionNode>('/admin/rule')
  const { edit, reveal, drawer } = useEdits(reload)
  const drawn = useLastValue(drawer.edits) // the drawer is loaded when first opened
  const then = () => void reloadAccount().catch(() => {}) // the menus are made from this tree

  async function show(node: PermissionNode, to: 0 | 1) {
    const record = await change(node, { show: to }, '/show')
    notify(t(to ? 'rule.shown' : 'rule.hidden', { name: permissionName(node) }), () => show({ ...node, ...record }, to ? 0 : 1))
    then()
  }

  async function enable(node: PermissionNode, to: 0 | 1, asked = false) {
    const [name, n] = [permissionName(node), below(node).length]
    if (
      !to &&
      !asked &&
      !(await confirm({ title: t('rule.disable', { name }), text: n ? t('rule.disable.below', { n }) : t('rule.disable.text'), ok: t('rule.disable.ok') }))
    )
      return
    const record = await change(node, { status: to }, '/status')
    notify(t(to ? 'rule.enabled' : 'rule.disabled', { name }), () => enable({ ...node, ...record }, to ? 0 : 1, true))
    then()
  }

  async function remove(node: PermissionNode) {
    const [name, n] = [permissionName(node), below(node).length]
    if (n) {
      modal.info({ title: t('tree.children', { name, n }), content: t('tree.children.text'), okText: t('close') })
      return
    }
    const removed = await removing({
      path: `/admin/rule/${node.id}`,
      question: async () => ({ title: t('rule.delete', { name }), text: await losers(node), ok: t('delete') }),
      message: t('deleted', { name }),
      needs: ['admin.rule.create', 'admin.role.rule'],
    })
    if (!removed) return
    await reload()
    then()
  }

  // losers lists the roles that lose a permission when it is deleted.
  async function losers(node: PermissionNode): Promise<string> {
    if (!may('admin.role.query')) return t('rule.delete.unknown')
    const roles = (await getAll<Role>('/admin/role')).filter((role) => role.rule_ids.includes(node.id))
    return roles.length ? t('rule.delete.roles', { names: few(roles.map((role) => role.name)) }) : t('rule.delete.none')
  }

  const update = may('admin.rule.update')
  const flag = (node: PermissionNode, current: boolean, field: 'show' | 'status', to: (node: PermissionNode, to: 0 | 1) => Promise<void>) => {
    if (!update) return node[field] ? t('yes') : t('no')
    const label = `${t(field === 'show' ? 'rule.show' : 'enabled')}: ${permissionName(node)}`
    return <Switch size="small" checked={node[field] === 1} tabIndex={current ? 0 : -1} aria-label={label} onChange={(on) => void to(node, on ? 1 : 0)} />
  }
  return (
    <>
      <TreeEditor<PermissionNode>
        title={t('menu.admin.rule')}
        path="/admin/rule"
        tree={tree}
        set={set}
        reload={reload}
        reveal={reveal}
        name={permissionName}
        texts={(node) => [node.key, node.name]}
        then={then}
        empty={t('rule.empty')}
        createText={t('rule.create')}
        lead={(node) => (node.type === action ? null : <Icon name={node.icon} />)}
        tail={(node, search) => (
          <Typography.Text type="secondary" className="tree-key" title={node.key}>
            <Marked text={node.key} search={search} />
          </Typography.Text>
        )}
        columns={[
          { key: 'type', title: t('rule.type'), width: 96, wide: true, render: (node) => <Tag variant="filled">{t(`rule.type.${node.type}` as Key)}</Tag> },
          { key: 'path', title: t('rule.path'), width: 176, wide: true, render: (node) => <span title={node.url || node.path}>{node.url || node.path}</span> },
          { key: 'show', title: t('rule.show'), width: 96, wide: true, render: (node, current) => node.type !== action && flag(node, current, 'show', show) },
          { key: 'status', title: t('enabled'), width: 72, render: (node, current) => flag(node, current, 'status', enable) },
        ]}
        holds={(node) => node.type !== action}
        movable={update}
        create={may('admin.rule.create') ? (parent) => edit({ parent }) : undefined}
        edit={update ? (node) => edit({ node }) : undefined}
        remove={may('admin.rule.delete') ? (node) => void remove(node) : undefined}
      />
      <Suspense>
        {tree && drawn && (
          <PermissionDrawer
            tree={tree}
            {...drawer}
            saved={async (id) => {
              await drawer.saved(id)
              then()
            }}
          />
        )}
      </Suspense>
    </>
  )
}
