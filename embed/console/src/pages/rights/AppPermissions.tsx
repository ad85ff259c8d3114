import { lazy, Suspense } from 'react'
import type { AppPermissionNode } from '../../api/types'
import { t } from '../../i18n'
import { useTree } from '../../ui/tree/useTree'
import { useLastValue } from '../../ui/useLastValue'
import { PermissionList } from './PermissionList'
import { useEdits } from './useEdits'

const AppPermissionDrawer = lazy(async () => ({ default: (await import('./AppPermissionDrawer')).AppPermissionDrawer }))

const realm = {
  path: '/user/rule',
  access: 'user.rule',
  role: 'user.role',
  texts: { title: 'menu.user.rule', empty: 'app_rule.empty' },
} as const

const nameOf = (node: AppPermissionNode) => node.name

// AppPermissions is the tree of the permissions that programs check for app users.
export function AppPermissions() {
  const tree = useTree<AppPermissionNode>('/user/rule')
  const edits = useEdits(tree.reload)
  const drawn = useLastValue(edits.drawer.edits) // the drawer is loaded when first opened
  return (
    <>
      <PermissionList<AppPermissionNode>
        realm={realm}
        tree={tree}
        edits={edits}
        name={nameOf}
        texts={(node) => [node.key]}
        disabling={(n) => (n ? t('app_rule.disable.below', { n }) : t('app_rule.disable.text'))}
        losing={async () => t('rule.delete.unknown')}
      />
      <Suspense>{tree.tree && drawn && <AppPermissionDrawer tree={tree.tree} {...edits.drawer} />}</Suspense>
    </>
  )
}
