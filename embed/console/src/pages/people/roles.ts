import { t } from '../../i18n'

type Role = { id: number; name: string; status: number }

// optionsOf returns all roles as options; without permission to list roles, the user's own.
export function optionsOf(roles: Role[] | undefined, user?: { role_ids: number[]; role_names: string[] }) {
  const options = (roles ?? []).map((role) => ({ value: role.id, label: role.status ? role.name : t('people.roles.off', { name: role.name }) }))
  const seen = new Set(options.map((option) => option.value))
  user?.role_ids.forEach((value, i) => {
    if (!seen.has(value)) options.push({ value, label: user.role_names[i] ?? String(value) })
  })
  return options
}
