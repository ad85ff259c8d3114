import { Tag } from 'antd'
import { lazy, Suspense } from 'react'
import { getAll } from '../../api/get-all'
import type { PermissionNode, Role } from '../../api/types'
import { useAccount } from '../../app/account'
import { type Key, t } from '../../i18n'
import { Icon } from '../../ui/icons'
import { useTree } from '../../ui/tree/useTree'
import { useAction } from '../../ui/useAction'
import { useLastValue } from '../../ui/useLastValue'
import { Flag } from './Flag'
import { PermissionList } from './PermissionList'
import { useEdits } from './useEdits'
import { few, permissionName } from './words'

const PermissionDrawer = lazy(async () => ({ default: (await import('./PermissionDrawer')).PermissionDrawer }))

const realm = {
  path: '/admin/rule',
  access: 'admin.rule',
  role: 'admin.role',
  texts: { title: 'menu.admin.rule', empty: 'rule.empty' },
} as const

const action = 2

// Permissions is the tree of menus, pages and actions.
export function Permissions() {
  const { may, reload: reloadAccount } = useAccount()
  const { notify } = useAction()
  const tree = useTree<PermissionNode>('/admin/rule')
  const edits = useEdits(tree.reload)
  const drawn = useLastValue(edits.drawer.edits) // the drawer is loaded when first opened
  const then = () => void reloadAccount().catch(() => {}) // the menus are made from this tree
  const update = may('admin.rule.update')

  async function show(node: PermissionNode, to: 0 | 1) {
    const record = await tree.change(node, { show: to }, '/show')
    notify(t(to ? 'rule.shown' : 'rule.hidden', { name: permissionName(node) }), () => show({ ...node, ...record }, to ? 0 : 1))
    then()
  }

  // losing lists the roles that lose a permission when it is deleted.
  async function losing(node: PermissionNode): Promise<string> {
    if (!may('admin.role.query')) return t('rule.delete.unknown')
    const roles = (await getAll<Role>('/admin/role')).filter((role) => role.rule_ids.includes(node.id))
    return roles.length ? t('rule.delete.roles', { names: few(roles.map((role) => role.name)) }) : t('rule.delete.none')
  }

  return (
    <>
      <PermissionList<PermissionNode>
        realm={realm}
        tree={tree}
        edits={edits}
        name={permissionName}
        texts={(node) => [node.key, node.name]}
        disabling={(n) => (n ? t('rule.disable.below', { n }) : t('rule.disable.text'))}
        losing={losing}
        then={then}
        lead={(node) => (node.type === action ? null : <Icon name={node.icon} />)}
        holds={(node) => node.type !== action}
        columns={[
          { key: 'type', title: t('rule.type'), width: 96, wide: true, render: (node) => <Tag variant="filled">{t(`rule.type.${node.type}` as Key)}</Tag> },
          { key: 'path', title: t('rule.path'), width: 176, wide: true, render: (node) => <span title={node.url || node.path}>{node.url || node.path}</span> },
          {
            key: 'show',
            title: t('rule.show'),
            width: 96,
            wide: true,
            render: (node, current) =>
              node.type !== action && (
                <Flag on={node.show} of={permissionName(node)} label={t('rule.show')} reached={current} turn={update ? (to) => show(node, to) : undefined} />
              ),
          },
        ]}
      />
      <Suspense>
        {tree.tree && drawn && (
          <PermissionDrawer
            tree={tree.tree}
            {...edits.drawer}
            saved={async (id) => {
              await edits.drawer.saved(id)
              then()
            }}
          />
        )}
      </Suspense>
    </>
  )
}
