import { App } from 'antd'
import type { ReactNode } from 'react'
import type { AppPermissionNode, PermissionNode } from '../../api/types'
import { useAccount } from '../../app/account'
import { type Key, t } from '../../i18n'
import { below } from '../../ui/tree/model'
import { KeyTail } from '../../ui/tree/search'
import { type Column, TreeEditor } from '../../ui/tree/TreeEditor'
import type { useTree } from '../../ui/tree/useTree'
import { useAction } from '../../ui/useAction'
import { useRemove } from '../../ui/useRemove'
import type { Realm } from '../people/realm'
import { Flag } from './Flag'
import type { useEdits } from './useEdits'

type Either = PermissionNode | AppPermissionNode

type Props<T extends Either> = {
  realm: { path: '/admin/rule' | '/user/rule'; access: 'admin.rule' | 'user.rule'; role: Realm['role']; texts: { title: Key; empty: Key } }
  tree: ReturnType<typeof useTree<T>>
  edits: ReturnType<typeof useEdits<T>>
  name: (node: T) => string
  texts: (node: T) => string[] // texts to search besides the name
  disabling: (belowIt: number) => string // what happens when a node is disabled
  losing: (node: T) => Promise<string> // what happens when it is deleted
  columns?: Column<T>[] // before the switch
  lead?: (node: T) => ReactNode
  holds?: (node: T) => boolean
  then?: () => void // called after a change is saved
}

// PermissionList is the tree of the permissions of either realm.
export function PermissionList<T extends Either>({ realm, tree, edits, name: nameOf, disabling, losing, columns = [], then, ...props }: Props<T>) {
  const { may } = useAccount()
  const { confirm, notify } = useAction()
  const removing = useRemove()
  const { modal } = App.useApp()
  const { path, access, texts } = realm
  const { edit } = edits

  async function enable(node: T, to: 0 | 1, asked = false) {
    const name = nameOf(node)
    if (!to && !asked && !(await confirm({ title: t('rule.disable', { name }), text: disabling(below(node).length), ok: t('rule.disable.ok') }))) return
    const record = await tree.change(node, { status: to }, '/status')
    notify(t(to ? 'rule.enabled' : 'rule.disabled', { name }), () => enable({ ...node, ...record }, to ? 0 : 1, true))
    then?.()
  }

  async function remove(node: T) {
    const [name, n] = [nameOf(node), below(node).length]
    if (n) {
      modal.info({ title: t('tree.children', { name, n }), content: t('tree.children.text'), okText: t('close') })
      return
    }
    const removed = await removing({
      path: `${path}/${node.id}`,
      question: async () => ({ title: t('rule.delete', { name }), text: await losing(node), ok: t('delete') }),
      message: t('deleted', { name }),
      needs: [`${access}.create`, `${realm.role}.rule`],
    })
    if (!removed) return
    await tree.reload()
    then?.()
  }

  const update = may(`${access}.update`)
  return (
    <TreeEditor<T>
      {...props}
      title={t(texts.title)}
      path={path}
      tree={tree.tree}
      set={tree.set}
      reload={tree.reload}
      reveal={edits.reveal}
      name={nameOf}
      then={then}
      empty={t(texts.empty)}
      createText={t('rule.create')}
      tail={(node, search) => <KeyTail of={node} search={search} />}
      columns={[
        ...columns,
        {
          key: 'status',
          title: t('enabled'),
          width: 72,
          render: (node, current) => <Flag on={node.status} of={nameOf(node)} reached={current} turn={update ? (to) => enable(node, to) : undefined} />,
        },
      ]}
      movable={update}
      create={may(`${access}.create`) ? (parent) => edit({ parent }) : undefined}
      edit={update ? (node) => edit({ node }) : undefined}
      remove={may(`${access}.delete`) ? (node) => void remove(node) : undefined}
    />
  )
}
