import { App, Button, Flex, Typography } from 'antd'
import { lazy, Suspense, useMemo } from 'react'
import { Link, useNavigate } from 'react-router'
import { getAll } from '../../api/get-all'
import type { DeptNode, Role } from '../../api/types'
import { useAccount } from '../../app/account'
import { t } from '../../i18n'
import { count } from '../../ui/format'
import { below, childrenOf } from '../../ui/tree/model'
import { TreeEditor } from '../../ui/tree/TreeEditor'
import { useTree } from '../../ui/tree/useTree'
import { useAction } from '../../ui/useAction'
import { useRemove } from '../../ui/useRemove'
import { Flag } from './Flag'
import { useEdits } from './useEdits'
import { few } from './words'
import { useLastValue } from '../../ui/useLastValue'

const DeptDrawer = lazy(async () => ({ default: (await import('./DeptDrawer')).DeptDrawer }))

// Departments is the department tree within the user's data scope.
export function Departments() {
  const { may } = useAccount()
  const { notify } = useAction()
  const removing = useRemove()
  const { modal } = App.useApp()
  const navigate = useNavigate()
  const { tree, set, reload, change } = useTree<DeptNode>('/admin/dept')
  const { edit, reveal, drawer } = useEdits(reload)
  const drawn = useLastValue(drawer.edits) // the drawer is loaded when first opened
  const headcount = useMemo(() => totals(tree ?? []), [tree])

  async function enable(node: DeptNode, to: 0 | 1) {
    const record = await change(node, { status: to })
    notify(t(to ? 'rule.enabled' : 'rule.disabled', { name: node.name }), () => enable({ ...node, ...record }, to ? 0 : 1))
  }

  async function remove(node: DeptNode) {
    const [name, n] = [node.name, below(node).length]
    if (n) {
      modal.info({ title: t('tree.children', { name, n }), content: t('tree.children.text'), okText: t('close') })
      return
    }
    if (node.user_count) {
      const dialog = modal.info({
        title: t('dept.in_use', { name, n: node.user_count }),
        okText: t('close'),
        content: (
          <Flex vertical gap={8} align="start">
            {t('dept.in_use.text')}
            {may('admin.list.query') && (
              <Button
                onClick={() => {
                  dialog.destroy()
                  void navigate(users(node))
                }}
              >
                {t('dept.in_use.show')}
              </Button>
            )}
          </Flex>
        ),
      })
      return
    }
    const removed = await removing({
      path: `/admin/dept/${node.id}`,
      question: async () => ({ title: t('rule.delete', { name }), text: await losers(node), ok: t('delete') }),
      message: t('deleted', { name }),
      needs: ['admin.dept.create', 'admin.role.update'],
    })
    if (!removed) return
    await reload()
  }

  // losers lists the roles whose data scope contains a department.
  async function losers(node: DeptNode): Promise<string> {
    const roles = may('admin.role.query') ? (await getAll<Role>('/admin/role')).filter((role) => role.dept_ids.includes(node.id)) : []
    return roles.length ? t('dept.delete.roles', { names: few(roles.map((role) => role.name)) }) : t('dept.delete.none')
  }

  const update = may('admin.dept.update')
  return (
    <>
      <TreeEditor<DeptNode>
        title={t('menu.admin.dept')}
        path="/admin/dept"
        tree={tree}
        set={set}
        reload={reload}
        reveal={reveal}
        name={(node) => node.name}
        texts={(node) => [node.leader, node.code]}
        empty={t('dept.empty')}
        createText={t('dept.create')}
        columns={[
          { key: 'code', title: t('dept.code'), width: 120, wide: true, render: (node) => <span title={node.code}>{node.code}</span> },
          { key: 'leader', title: t('dept.leader'), width: 160, wide: true, render: (node) => <bdi title={node.leader}>{node.leader}</bdi> },
          { key: 'phone', title: t('dept.phone'), width: 144, wide: true, render: (node) => <span title={node.email || undefined}>{node.phone}</span> },
          {
            key: 'people',
            title: t('dept.people'),
            width: 120,
            wide: true,
            render: (node, current) => <People node={node} all={headcount.get(node.id)!} current={current} linked={may('admin.list.query')} />,
          },
          {
            key: 'status',
            title: t('enabled'),
            width: 72,
            render: (node, current) => <Flag on={node.status} of={node.name} reached={current} turn={update ? (to) => enable(node, to) : undefined} />,
          },
        ]}
        movable={update}
        create={may('admin.dept.create') ? (parent) => edit({ parent }) : undefined}
        edit={update ? (node) => edit({ node }) : undefined}
        remove={may('admin.dept.delete') ? (node) => void remove(node) : undefined}
      />
      <Suspense>{tree && drawn && <DeptDrawer tree={tree} {...drawer} />}</Suspense>
    </>
  )
}

const users = (node: DeptNode) => `/admin/list?dept_id=${node.id}`

// totals are the numbers of users in each department and its subtree.
function totals(tops: DeptNode[]): Map<number, number> {
  const all = new Map<number, number>()
  const add = (node: DeptNode): number => {
    const n = childrenOf(node).reduce((sum, child) => sum + add(child), node.user_count)
    all.set(node.id, n)
    return n
  }
  tops.forEach(add)
  return all
}

function People({ node, all, current, linked }: { node: DeptNode; all: number; current: boolean; linked: boolean }) {
  const title = t('dept.people.title', { n: count(node.user_count), all: count(all) })
  if (!all) return <Typography.Text type="secondary">—</Typography.Text>
  return (
    <span title={title}>
      {linked ? (
        <Link to={users(node)} style={{ textDecoration: 'underline' }} tabIndex={current ? 0 : -1} aria-label={title}>
          {count(all)}
        </Link>
      ) : (
        count(all)
      )}
      {all !== node.user_count && (
        <Typography.Text type="secondary" style={{ fontSize: 12 }}>
          {' '}
          {t('dept.people.own', { n: count(node.user_count) })}
        </Typography.Text>
      )}
    </span>
  )
}
