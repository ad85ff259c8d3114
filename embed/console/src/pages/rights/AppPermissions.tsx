import { App, Switch, Typography } from 'antd'
import { lazy, Suspense } from 'react'
import type { AppPermissionNode } from '../../api/types'
import { useAccount } from '../../app/account'
import { t } from '../../i18n'
import { below } from '../../ui/tree/model'
import { Marked } from '../../ui/tree/search'
import { TreeEditor } from '../../ui/tree/TreeEditor'
import { useTree } from '../../ui/tree/useTree'
import { useAction } from '../../ui/useAction'
import { useLastValue } from '../../ui/useLastValue'
import { useRemove } from '../../ui/useRemove'
import { useEdits } from './useEdits'

const AppPermissionDrawer = lazy(async () => ({ default: (await import('./AppPermissionDrawer')).AppPermissionDrawer }))

const nameOf = (node: AppPermissionNode) => node.name

// AppPermissions is the tree of the permissions that programs check for app users.
export function AppPermissions() {
  const { may } = useAccount()
  const { confirm, notify } = useAction()
  const removing = useRemove()
  const { modal } = App.useApp()
  const { tree, set, reload, change } = useTree<AppPermissionNode>('/user/rule')
  const { edit, reveal, drawer } = useEdits(reload)
  const drawn = useLastValue(drawer.edits) // the drawer is loaded when first opened

  async function enable(node: AppPermissionNode, to: 0 | 1, asked = false) {
    const { name } = node
    const n = below(node).length
    const text = n ? t('app_rule.disable.below', { n }) : t('app_rule.disable.text')
    if (!to && !asked && !(await confirm({ title: t('rule.disable', { name }), text, ok: t('rule.disable.ok') }))) return
    const record = await change(node, { status: to }, '/status')
    notify(t(to ? 'rule.enabled' : 'rule.disabled', { name }), () => enable({ ...node, ...record }, to ? 0 : 1, true))
  }

  async function remove(node: AppPermissionNode) {
    const { name } = node
    const n = below(node).length
    if (n) {
      modal.info({ title: t('tree.children', { name, n }), content: t('tree.children.text'), okText: t('close') })
      return
    }
    const removed = await removing({
      path: `/user/rule/${node.id}`,
      question: { title: t('rule.delete', { name }), text: t('rule.delete.unknown'), ok: t('delete') },
      message: t('deleted', { name }),
      needs: ['user.rule.create', 'user.role.rule'],
    })
    if (removed) await reload()
  }

  const update = may('user.rule.update')
  return (
    <>
      <TreeEditor<AppPermissionNode>
        title={t('menu.user.rule')}
        path="/user/rule"
        tree={tree}
        set={set}
        reload={reload}
        reveal={reveal}
        name={nameOf}
        texts={(node) => [node.key]}
        empty={t('app_rule.empty')}
        createText={t('rule.create')}
        tail={(node, search) => (
          <Typography.Text type="secondary" className="tree-key" title={node.key}>
            <Marked text={node.key} search={search} />
          </Typography.Text>
        )}
        columns={[
          {
            key: 'status',
            title: t('enabled'),
            width: 72,
            render: (node, current) =>
              update ? (
                <Switch
                  size="small"
                  checked={node.status === 1}
                  tabIndex={current ? 0 : -1}
                  aria-label={`${t('enabled')}: ${node.name}`}
                  onChange={(on) => void enable(node, on ? 1 : 0)}
                />
              ) : (
                t(node.status ? 'yes' : 'no')
              ),
          },
        ]}
        movable={update}
        create={may('user.rule.create') ? (parent) => edit({ parent }) : undefined}
        edit={update ? (node) => edit({ node }) : undefined}
        remove={may('user.rule.delete') ? (node) => void remove(node) : undefined}
      />
      <Suspense>{tree && drawn && <AppPermissionDrawer tree={tree} {...drawer} />}</Suspense>
    </>
  )
}
