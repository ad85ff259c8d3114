import { useEffect, useState } from 'react'
import { get } from '../../api/request'
import type { Role } from '../../api/types'
import { useAccount } from '../../app/account'
import { ownerRole } from './words'

// Rights are the permissions and data scope of a set of roles.
type Rights = { all: boolean; rules: Set<number>; scopes: Set<string> }

// Ceiling is what a user can grant: their own permissions and scope, and those of the
// roles that they can assign. own excludes the latter: it is required for letting members
// assign a role. The server decides; this is a preview.
export type Ceiling = Rights & { own: Rights }

function rightsOf(roles: Role[]): Rights {
  return {
    all: roles.some((role) => role.id === ownerRole),
    rules: new Set(roles.flatMap((role) => role.rule_ids)),
    scopes: new Set(roles.map((role) => role.data_scope)),
  }
}

// lacking returns the permissions of a role that some rights do not include.
export const lacking = (role: Role, rights: Rights): number[] => (rights.all ? [] : role.rule_ids.filter((id) => !rights.rules.has(id)))

// mayScope reports whether a data scope is within some rights. A custom scope is limited
// by the departments that the user sees.
export function mayScope(scope: string, rights: Rights): boolean {
  const order = ['dept', 'dept_tree', 'all']
  const wanted = order.indexOf(scope)
  return rights.all || wanted < 0 || order.slice(wanted).some((wide) => rights.scopes.has(wide))
}

// beyond reports whether a role is known to exceed what the user can grant.
export const beyond = (role: Role, rights: Rights): boolean => role.id === ownerRole || lacking(role, rights).length > 0 || !mayScope(role.data_scope, rights)

// useCeiling is undefined while unknown.
export function useCeiling(): Ceiling | undefined {
  const { info } = useAccount().info
  const [ceiling, setCeiling] = useState<Ceiling>()
  const ids = info.role_ids.join()
  useEffect(() => {
    const read = (which: number[]) => Promise.all(which.map((id) => get(`/admin/role/${id}`, {}, { quiet: true })))
    const own = ids ? ids.split(',').map(Number) : []
    async function find() {
      if (own.includes(ownerRole)) {
        const all = { all: true, rules: new Set<number>(), scopes: new Set<string>() }
        return setCeiling({ ...all, own: all })
      }
      const held = (await read(own)).filter((role) => role.status === 1)
      const given = await read([...new Set(held.flatMap((role) => role.grant_role_ids))])
      setCeiling({ ...rightsOf([...held, ...given]), own: rightsOf(held) })
    }
    find().catch(() => {}) // unknown: the server decides
  }, [ids])
  return ceiling
}
