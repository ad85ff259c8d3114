import type { Access } from '../../api/types'
import { t } from '../../i18n'
import type { Links } from '../invite/useLinks'
import type { Person, Realm } from './person'

// linkAction is the action that makes a link for a person: an invitation before the first sign-in,
// else a password reset link. False without permission.
export function linkAction(links: Links, user: Person, { owner }: Realm, may: (key: Access) => boolean) {
  const [invite, password] =
    owner === 'user_id' ? (['admin.invite.create', 'admin.list.password'] as const) : (['user.invite.create', 'user.list.password'] as const)
  if (!user.login_time && may(invite)) return { label: t('people.invite'), onClick: () => links.ask(user, 'invite') }
  return may(password) && { label: t('people.reset_link'), onClick: () => links.ask(user, 'reset-link') }
}
