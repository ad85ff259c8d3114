import type { Access } from '../../api/types'
import { t } from '../../i18n'
import type { Action } from '../../ui/Actions'
import type { Leave } from '../../ui/useRecord'
import type { Person } from './person'
import type { Realm } from './realm'
import type { People } from './usePeople'

type May = (key: Access) => boolean

// helps reports whether a user can help with sign-ins in at least one way, and so is told which permissions the other
// ways require.
const helps = ({ access }: Realm, may: May): boolean =>
  may('system.session.delete') || (['update', 'password', 'status', 'factor', 'unlock'] as const).some((act) => may(`${access}.${act}`))

// helping returns a function that returns an action if it is permitted. If it is not, those who can help in other ways
// are told what it requires.
export const helping =
  (realm: Realm, own: boolean, may: May) =>
  (permission: Access, action: Action): Action | false =>
    may(permission) ? action : !own && helps(realm, may) && { ...action, why: t('people.needs', { permission }) }

type On<P extends Person> = { user: P; own: boolean; realm: Realm; people: People<P>; may: May; leave?: Leave }

// personActions are the actions on a person in a list and on the person's page; false without
// permission, or for what users can't do to themselves. leave is how a page of the person ends.
export function personActions<P extends Person>({ user, own, realm, people, may, leave }: On<P>) {
  const { access, invite, actAs } = realm
  const help = helping(realm, own, may)
  return {
    // A link is an invitation before the first sign-in, else a password reset link.
    link:
      !own &&
      (!user.login_time && (may(`${invite}.create`) || !may(`${access}.password`))
        ? help(`${invite}.create`, { label: t('people.invite'), onClick: () => people.links.ask(user, 'invite') })
        : may(`${access}.password`) && { label: t('people.reset_link'), onClick: () => people.links.ask(user, 'reset-link') }),
    reset: !own && help(`${access}.password`, { label: t('people.reset'), onClick: () => people.reset(user) }),
    unfactor:
      !own &&
      (user.second_factor === 1 || ('passkeys' in user && user.passkeys > 0)) &&
      help(`${access}.factor`, { label: t('people.factor'), onClick: () => void people.unfactor(user) }),
    sessions: help('system.session.query', { label: t('people.sessions'), onClick: () => people.sessions(user) }),
    act: actAs !== undefined && may(actAs) && !own && user.status === 1 && { label: t('people.act_as'), onClick: () => people.act(user) },
    data: may(`${access}.data`) && { label: t('people.data'), onClick: () => void people.data(user) },
    remove: may(`${access}.delete`) && !own && { label: t('delete'), danger: true, onClick: () => void people.remove(user, leave) },
    erase: may(`${access}.erase`) && !own && { label: t('people.erase'), danger: true, onClick: () => people.erase(user) },
  }
}
