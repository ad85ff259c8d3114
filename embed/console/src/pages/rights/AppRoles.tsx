import { Tag } from 'antd'
import { lazy, Suspense, useState } from 'react'
import { post } from '../../api/request'
import type { AppRole } from '../../api/types'
import { useAccount } from '../../app/account'
import { loadTexts, t } from '../../i18n'
import { useLastValue } from '../../ui/useLastValue'
import { useTable } from '../../ui/useTable'
import { RoleList } from './RoleList'
import { RoleName } from './RoleName'

const AppRoleDrawer = lazy(async () => ({ default: (await import('./AppRoleDrawer')).AppRoleDrawer }))
const CompareDrawer = lazy(async () => ({ default: (await Promise.all([import('./CompareDrawer'), loadTexts('overlays')]))[0].CompareDrawer }))

const realm = {
  path: '/user/role',
  access: 'user.role',
  collection: 'app_role',
  people: { path: '/user/list', access: 'user.list' },
  texts: { title: 'menu.user.role', empty: 'app_role.empty', remove: 'app_role.delete.text' },
} as const

// AppRoles lists the roles of app users.
export function AppRoles() {
  const { may } = useAccount()
  const list = useTable<AppRole>('/user/role')
  const [edits, setEdits] = useState<{ role?: AppRole; copy?: AppRole }>()
  const [compared, setCompared] = useState<number[]>() // as the drawer takes it, which is loaded when first opened
  const drawn = useLastValue(edits) // the drawer is loaded when first opened
  const opens = may('user.role.update') || may('user.role.rule')

  return (
    <>
      <RoleList<AppRole>
        realm={realm}
        list={list}
        name={(role) => (
          <RoleName role={role} onOpen={opens ? () => setEdits({ role }) : undefined}>
            {role.default === 1 && <Tag variant="filled">{t('app_role.default.tag')}</Tag>}
          </RoleName>
        )}
        first={(role) => opens && { label: t('edit'), onClick: () => setEdits({ role }) }}
        onCreate={() => setEdits({})}
        onCopy={(copy) => setEdits({ copy })}
        onCompare={may('user.rule.query') || may('user.role.rule') ? setCompared : undefined}
        again={({ description, name, sort, status, default: given, password_off }) =>
          post('/user/role', { description, name, sort, status, default: given, password_off })
        }
      />
      <Suspense>
        {drawn && <AppRoleDrawer edits={edits} onClose={() => setEdits(undefined)} saved={list.reload} />}
        {compared && <CompareDrawer ids={compared} realm={realm} onClose={() => setCompared([])} />}
      </Suspense>
    </>
  )
}
