import { Button, Card, Flex, Typography } from 'antd'
import { useEffect, useMemo, useState } from 'react'
import { useAccount } from '../../app/account'
import { places } from '../../app/menu'
import type { Effective, PermissionNode, User } from '../../api/types'
import { joined, t } from '../../i18n'
import { count } from '../../ui/format'
import { CheckTree } from '../../ui/tree/CheckTree'
import { KeyTail } from '../../ui/tree/search'
import { childrenOf } from '../../ui/tree/model'
import { useGet } from '../../ui/useGet'
import { permissionName } from '../rights/words'
import { Question } from './Explain'
import { ofUser } from './person'

// Access shows the pages that a user sees, their data scope and their current permissions, and why.
export function Access({ user }: { user: User }) {
  const held = useGet('/admin/permission/effective', { user_id: user.id }).data
  const tree = useGet('/admin/rule').data?.data
  const heldKeys = held?.keys
  const { info, may } = useAccount()
  const single = may('system.node.query') && !places(info.menus).some(({ path }) => path === '/system/node') // the page is for several nodes
  const { checked, pages } = useMemo(() => {
    const keys = new Set(heldKeys)
    const checked = new Set<number>()
    const pages: Record<'seen' | 'unseen', PermissionNode[]> = { seen: [], unseen: [] }
    const look = (node: PermissionNode, hidden = false) => {
      if (keys.has(node.key)) checked.add(node.id)
      const off = hidden || node.show === 0 || (single && node.path === '/system/node')
      if (node.type === page && !off) pages[keys.has(node.key) ? 'seen' : 'unseen'].push(node)
      // biome-ignore lint/nursery/useReactCompiler: the compiler does not support recursive functions
      for (const below of childrenOf(node)) look(below, off)
    }
    for (const node of tree ?? []) look(node)
    return { checked, pages }
  }, [heldKeys, tree, single])
  const [asked, setAsked] = useState({ key: '', times: 0 })
  const ask = (key: string) => setAsked(({ times }) => ({ key, times: times + 1 }))
  useEffect(() => {
    if (asked.times) document.getElementById('permission')?.focus()
  }, [asked.times])
  return (
    <Flex vertical gap={16}>
      <Card size="small" title={t('role.scope')} loading={!held}>
        {held && <Scope of={held} user={user} />}
      </Card>
      <Card size="small" title={t('people.pages')} loading={!held || !tree}>
        <Flex vertical gap={12}>
          <Pages title={t('people.pages.seen', { n: count(pages.seen.length) })} of={pages.seen} ask={ask} />
          <Pages title={t('people.pages.unseen', { n: count(pages.unseen.length) })} of={pages.unseen} ask={ask} />
        </Flex>
      </Card>
      <Card size="small" title={t('people.explain')}>
        <Question key={asked.times} of={ofUser(user)} start={asked.key || undefined} />
      </Card>
      <Card size="small" title={held ? t('people.held', { n: count(held.keys.length) }) : t('people.access')} loading={!held || !tree}>
        {held && tree && (
          <CheckTree<PermissionNode>
            label={t('people.access')}
            tree={tree}
            checked={checked}
            only
            name={permissionName}
            texts={(node) => [node.key, node.name]}
            height="min(480px, 60dvh)"
            tail={(node, search) => <KeyTail of={node} search={search} />}
          />
        )}
      </Card>
    </Flex>
  )
}

const page = 1 // type of a permission that is a page

// Pages are pages of the menu, each a button that asks why the user does or does not see it.
function Pages({ title, of, ask }: { title: string; of: PermissionNode[]; ask: (key: string) => void }) {
  if (of.length === 0) return null
  return (
    <div role="group" aria-label={title}>
      <Typography.Text type="secondary">{title}</Typography.Text>
      <Flex wrap gap={4} style={{ marginTop: 4 }}>
        {of.map((node) => (
          <Button key={node.id} size="small" onClick={() => ask(node.key)}>
            {permissionName(node)}
          </Button>
        ))}
      </Flex>
    </div>
  )
}

// Scope says in a sentence which users and departments are in a user's data scope, as far as the viewer can
// see the departments.
function Scope({ of, user }: { of: Effective; user: User }) {
  if (user.status === 0) return <>{t('people.scope.disabled')}</>
  if (of.all) return <>{t('people.scope.all')}</>
  if (!of.dept_count) return <>{t('people.scope.self')}</>
  const further = of.dept_count - of.depts.length
  const names = of.depts.map(({ name }) => `\u2068${name}\u2069`)
  if (further) names.push(t('people.scope.further', { n: count(further) }))
  return <span style={{ overflowWrap: 'anywhere' }}>{t('people.scope.depts', { names: joined(names) })}</span>
}
