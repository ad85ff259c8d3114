import { Skeleton } from 'antd'
import { lazy, Suspense } from 'react'
import { get } from '../../api/request'
import type { User } from '../../api/types'
import { useAccount } from '../../app/account'
import { type Key, loadTexts, t } from '../../i18n'
import { DeptLink } from '../../ui/DeptLink'
import { RoleTags } from '../../ui/RoleTags'
import { LoginLog } from '../LoginLog'
import { PersonPage } from './PersonPage'
import { backend } from './realm'

const Access = lazy(async () => ({ default: (await Promise.all([import('./Access'), loadTexts('actions', 'rights')]))[0].Access }))
const UserForm = lazy(async () => ({ default: (await import('./UserForm')).UserForm }))

const find = async (who: string, signal: AbortSignal): Promise<User | undefined> =>
  who.startsWith('@')
    ? (await get('/admin/list', { username: who.slice(1) }, { signal, quiet: true })).data[0]
    : get(`/admin/list/${encodeURIComponent(who) as `${number}`}`, {}, { signal, quiet: true })

// Person is the page of one user.
export function Person() {
  const { may } = useAccount()
  const access = (user: User) => (
    <Suspense fallback={<Skeleton active title={false} />}>
      <Access user={user} />
    </Suspense>
  )
  return (
    <PersonPage<User>
      realm={backend}
      find={find}
      places={(user) => [
        {
          label: t('people.dept'),
          children: user.dept_id ? <DeptLink id={user.dept_id} name={user.dept_name} /> : t('people.dept.none'),
        },
        { label: t('people.roles'), children: user.role_ids.length ? <RoleTags ids={user.role_ids} names={user.role_names} /> : '—' },
        { label: t('people.sex'), children: t(`people.sex.${user.sex}` as Key) },
      ]}
      further={(user) => [{ label: t('people.must_change'), children: t(user.must_change_password ? 'yes' : 'no') }]}
      before={(user) => (may('admin.rule.query') ? [{ key: 'access', label: t('people.access'), children: access(user) }] : [])}
      after={(user) => (may('system.loginlog.query') ? [{ key: 'loginlog', label: t('people.sign_ins'), children: <LoginLog of={user.id} /> }] : [])}
      form={(props) => <UserForm {...props} />}
    />
  )
}
