import { lazy } from 'react'
import { get } from '../../api/request'
import type { AppUser } from '../../api/types'
import { t } from '../../i18n'
import { RoleTags } from '../../ui/RoleTags'
import { Pending } from './Pending'
import { PersonPage } from './PersonPage'
import { app } from './realm'

const AppUserForm = lazy(async () => ({ default: (await import('./AppUserForm')).AppUserForm }))

const find = (who: string, signal: AbortSignal): Promise<AppUser> => get(`/user/list/${encodeURIComponent(who) as `${number}`}`, {}, { signal, quiet: true })

// AppPerson is the page of one app user.
export const AppPerson = () => (
  <PersonPage<AppUser>
    realm={app}
    find={find}
    places={(user) => [{ label: t('people.roles'), children: user.role_ids.length ? <RoleTags ids={user.role_ids} names={user.role_names} app /> : '—' }]}
    mark={(user) => <Pending user={user} />}
    form={(props) => <AppUserForm {...props} />}
  />
)
