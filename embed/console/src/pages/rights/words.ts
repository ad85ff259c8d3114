import type { PermissionNode } from '../../api/types'
import { given, maybe, t } from '../../i18n'

// permissionName is what a permission is called in the menus and everywhere else.
export const permissionName = (p: Pick<PermissionNode, 'local' | 'name'>): string => maybe(p.local) ?? given(p.name)

// people is a number of them in words.
export const people = (n: number): string => (n === 0 ? t('role.nobody') : n === 1 ? t('role.person') : t('role.people', { n }))

// few names a list of names that may be long.
export const few = (names: string[], most = 5): string =>
  names.length <= most ? names.join(', ') : t('role.beyond.more', { names: names.slice(0, most).join(', '), n: names.length - most })
