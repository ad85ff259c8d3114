import { useEffect, useState } from 'react'
import { get } from '../../api/request'
import type { Role } from '../../api/types'
import { useAccount } from '../../app/account'

// Rights are what roles amount to.
type Rights = { all: boolean; rules: Set<number>; scopes: Set<string> }

// Ceiling is what one may grant: one's own rights, and those of the roles that one
// may give. own is without these: what one must hold to let others give a role. The
// server decides; this tells beforehand.
export type Ceiling = Rights & { own: Rights }

export const ownerRole = 1

function rightsOf(roles: Role[]): Rights {
  return {
    all: roles.some((role) => role.id === ownerRole),
    rules: new Set(roles.flatMap((role) => role.rule_ids)),
    scopes: new Set(roles.map((role) => role.data_scope)),
  }
}

// lacking are the permissions of a role that lie beyond some rights.
export const lacking = (role: Role, rights: Rights): number[] => (rights.all ? [] : role.rule_ids.filter((id) => !rights.rules.has(id)))

// mayScope tells whether a data scope lies within some rights. That of chosen
// departments is bounded by the departments that one sees.
export function mayScope(scope: string, rights: Rights): boolean {
  const order = ['dept', 'dept_tree', 'all']
  const wanted = order.indexOf(scope)
  return rights.all || wanted < 0 || order.slice(wanted).some((wide) => rights.scopes.has(wide))
}

// beyond tells whether a role is known to be out of one's reach.
export const beyond = (role: Role, rights: Rights): boolean => role.id === ownerRole || lacking(role, rights).length > 0 || !mayScope(role.data_scope, rights)

// useCeiling is undefined while it is not known.
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
    find().catch(() => {}) // then it is not known, and the server says it
  }, [ids])
  return ceiling
}
