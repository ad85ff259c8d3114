import { lazy } from 'react'
import { useParams } from 'react-router'
import type { AppUser } from '../../api/types'
import { useAccount } from '../../app/account'
import { t } from '../../i18n'
import { RoleTags } from '../../ui/RoleTags'
import { useTable } from '../../ui/useTable'
import { People } from './People'
import { Pending } from './Pending'
import { app } from './realm'

const AppPerson = lazy(async () => ({ default: (await import('./AppPerson')).AppPerson }))
const AppUserBatch = lazy(async () => ({ default: (await import('./AppUserBatch')).AppUserBatch }))
const AppUserForm = lazy(async () => ({ default: (await import('./AppUserForm')).AppUserForm }))

// AppUsers is the list of app users; the page of an app user is at its ID.
export function AppUsers() {
  return useParams()['*'] ? <AppPerson /> : <AppUserList />
}

// AppUserList lists the users of the product behind this backend.
function AppUserList() {
  const { may } = useAccount()
  const list = useTable<AppUser>(app.path, {}, { own: ['new'] })
  const batch = may('user.list.status') || may('user.list.delete') || may('user.invite.create') || may('system.session.delete')
  return (
    <People<AppUser>
      realm={app}
      list={list}
      mark={(user) => <Pending user={user} />}
      roles={{
        title: t('people.roles'),
        key: 'roles',
        render: (_, user) => (user.role_names.length ? <RoleTags ids={user.role_ids} names={user.role_names} most={2} app /> : '—'),
      }}
      form={(props) => <AppUserForm {...props} />}
      batch={batch ? (props) => <AppUserBatch {...props} params={list.params} /> : undefined}
      wholes={batch}
    />
  )
}
