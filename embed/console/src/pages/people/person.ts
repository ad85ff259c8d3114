import type { ApiKey, AppUser, User } from '../../api/types'
import { joined, t } from '../../i18n'

// Person is a user of either realm.
export type Person = User | AppUser

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
