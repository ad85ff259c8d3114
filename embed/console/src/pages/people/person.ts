import type { ApiKey, AppUser, User } from '../../api/types'
import { joined, t } from '../../i18n'

// Person is a user of either realm.
export type Person = User | AppUser

// Realm is where a page's users are stored, the field that identifies them in sessions, the
// permissions that concern them, and the columns of their CSV files.
export type Realm = {
  path: '/admin/list' | '/user/list'
  owner: 'user_id' | 'app_user_id'
  access: 'admin.list' | 'user.list'
  invite: 'admin.invite.create' | 'user.invite.create'
  columns: readonly string[]
}

export const backend: Realm = {
  path: '/admin/list',
  owner: 'user_id',
  access: 'admin.list',
  invite: 'admin.invite.create',
  columns: ['username', 'nickname', 'email', 'mobile', 'sex', 'department', 'roles', 'status'],
}
export const app: Realm = {
  path: '/user/list',
  owner: 'app_user_id',
  access: 'user.list',
  invite: 'user.invite.create',
  columns: ['username', 'nickname', 'email', 'mobile', 'roles', 'status'],
}

// names lists people in a sentence: each isolated from the writing direction around it,
// and only the first few.
export function names(people: { username: string }[]): string {
  const first = joined(people.slice(0, 5).map((p) => `\u2068${p.username}\u2069`))
  return people.length > 5 ? t('people.and_more', { names: first, n: people.length - 5 }) : first
}

// Change is the change that a batch makes to all its users.
export type Change = { status?: 0 | 1; dept_id?: number; role_ids?: number[] }

// Subject is a user or an API key whose permissions are explained.
export type Subject = { name: string; query: { user_id: number } | { key_id: number }; key: boolean }

export const ofUser = (user: User): Subject => ({ name: names([user]), query: { user_id: user.id }, key: false })

export const ofKey = ({ id, name }: ApiKey): Subject => ({ name: names([{ username: name }]), query: { key_id: id }, key: true })

export const sexes = ['0', '1', '2'] as const
