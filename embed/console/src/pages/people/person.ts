import type { AppUser, User } from '../../api/types'
import { t } from '../../i18n'

// Person is a user of either realm.
export type Person = User | AppUser

// Realm is where the users of a page are kept, and by what their sessions know them.
export type Realm = { path: '/admin/list' | '/user/list'; owner: 'user_id' | 'app_user_id' }

export const backend: Realm = { path: '/admin/list', owner: 'user_id' }
export const app: Realm = { path: '/user/list', owner: 'app_user_id' }

// names are people as they stand inside of a sentence: each set apart from the
// writing direction around it, and of many the first.
export function names(people: { username: string }[]): string {
  const first = people
    .slice(0, 5)
    .map((p) => `\u2068${p.username}\u2069`)
    .join(', ')
  return people.length > 5 ? t('people.and_more', { names: first, n: people.length - 5 }) : first
}

export const sexes = ['0', '1', '2'] as const
