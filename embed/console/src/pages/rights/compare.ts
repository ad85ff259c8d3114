import type { AppRole, Role } from '../../api/types'
import { ownerRole } from './words'

type Either = Role | AppRole

type Tree<T> = { id: number; children?: T[] }

// nodesOf returns the nodes of a tree by ID. The tree model has more, but a page with a tree would load it in more
// files if the comparison used it, too.
export function nodesOf<T extends Tree<T>>(tops: T[], nodes = new Map<number, T>()): Map<number, T> {
  for (const node of tops) nodesOf(node.children ?? [], nodes.set(node.id, node))
  return nodes
}

// holds reports whether a set has a node or one below it.
export const holds = <T extends Tree<T>>(node: T, ids: ReadonlySet<number>): boolean =>
  ids.has(node.id) || Boolean(node.children?.some((one) => holds(one, ids)))

// Shares are the permissions that only one or both of two roles grant.
export type Shares = { first: Set<number>; second: Set<number>; both: Set<number> }

export function sharesOf(a: ReadonlySet<number>, b: ReadonlySet<number>): Shares {
  return {
    first: new Set([...a].filter((id) => !b.has(id))),
    second: new Set([...b].filter((id) => !a.has(id))),
    both: new Set([...a].filter((id) => b.has(id))),
  }
}

// A Trait is a property of a role: a value, or the IDs of other records.
export type Trait = 'status' | 'data_scope' | 'require_factor' | 'password_off' | 'default' | 'user_count' | 'grant_role_ids'

// traitsOf are those that the roles of a realm have, in screen order.
export const traitsOf = (app: boolean): Trait[] =>
  app ? ['status', 'default', 'password_off', 'user_count'] : ['status', 'data_scope', 'require_factor', 'password_off', 'user_count', 'grant_role_ids']

// isOwner reports whether a role has every permission, whatever its list. App users have no such role.
export const isOwner = (role: Either): boolean => 'data_scope' in role && role.id === ownerRole

// isEqual reports whether two roles have the same value. The order of IDs does not matter, and departments
// only to a scope of selected ones.
export function isEqual(trait: Trait, a: Either, b: Either): boolean {
  const value = (role: Either): string => {
    const of = (role as Partial<Record<Trait, unknown>>)[trait]
    if (trait === 'grant_role_ids' && isOwner(role)) return 'all'
    if (Array.isArray(of)) return String(of.toSorted((x: number, y: number) => x - y))
    if (of === 'custom') return `custom ${(role as Role).dept_ids.toSorted((x, y) => x - y)}`
    return String(of)
  }
  return value(a) === value(b)
}
