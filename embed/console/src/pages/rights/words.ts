import type { PermissionNode } from '../../api/types'
import { given, joined, maybe, t } from '../../i18n'

// ownerRole is the ID of the role that has every permission.
export const ownerRole = 1

// permissionName is the displayed name of a permission.
export const permissionName = (p: Pick<PermissionNode, 'local' | 'name'>): string => maybe(p.local) ?? given(p.name)

// people formats a number of members.
export const people = (n: number): string => (n === 0 ? t('role.nobody') : n === 1 ? t('role.person') : t('role.people', { n }))

// few joins names, and truncates a long list.
export const few = (names: string[], most = 5): string =>
  names.length <= most ? joined(names) : t('role.beyond.more', { names: joined(names.slice(0, most)), n: names.length - most })

// copyName is the name of a copy of a role, at most as long as names can be.
export const copyName = ({ name }: { name: string }): string => [...t('role.copy.name', { name })].slice(0, 64).join('')
