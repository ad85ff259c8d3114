import { Card, Flex } from 'antd'
import { useMemo } from 'react'
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

// Access shows a user's current permissions, their data scope, and why.
export function Access({ user }: { user: User }) {
  const held = useGet('/admin/permission/effective', { user_id: user.id }).data
  const tree = useGet('/admin/rule').data?.data
  const heldKeys = held?.keys
  const checked = useMemo(() => {
    const keys = new Set(heldKeys)
    const ids = new Set<number>()
    const look = (node: PermissionNode) => {
      if (keys.has(node.key)) ids.add(node.id)
      // biome-ignore lint/nursery/useReactCompiler: the compiler does not support recursive functions
      childrenOf(node).forEach(look)
    }
    tree?.forEach(look)
    return ids
  }, [heldKeys, tree])
  return (
    <Flex vertical gap={16}>
      <Card size="small" title={t('role.scope')} loading={!held}>
        {held && <Scope of={held} user={user} />}
      </Card>
      <Card size="small" title={t('people.explain')}>
        <Question of={ofUser(user)} />
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
