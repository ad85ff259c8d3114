import type { PermissionNode, Role } from '../../api/types'
import { childrenOf, type Place } from '../../ui/tree/model'

// Draft is the unsaved state of a role's grants.
export type Draft = { rules: Set<number>; scope: Role['data_scope']; depts: Set<number>; give: Set<number> }

export const draftOf = (role: Role): Draft => ({
  rules: new Set(role.rule_ids),
  scope: role.data_scope,
  depts: new Set(role.dept_ids),
  give: new Set(role.grant_role_ids),
})

// Change lists the additions to and removals from a set.
export type Change = { given: number[]; taken: number[] }

const changeOf = (old: number[], now: Set<number>): Change => ({
  given: [...now].filter((id) => !old.includes(id)),
  taken: old.filter((id) => !now.has(id)),
})

export type Changes = { rules: Change; depts: Change; give: Change; scope: boolean; details: boolean; any: boolean }

const some = ({ given, taken }: Change) => given.length + taken.length > 0

export function changesOf(role: Role, draft: Draft): Changes {
  const old = new Set(role.rule_ids) // the longest list by far
  const rules = { given: [...draft.rules].filter((id) => !old.has(id)), taken: role.rule_ids.filter((id) => !draft.rules.has(id)) }
  const depts = changeOf(role.dept_ids, draft.scope === 'custom' ? draft.depts : new Set())
  const give = changeOf(role.grant_role_ids, draft.give)
  const scope = role.data_scope !== draft.scope
  const details = scope || some(depts) || some(give)
  return { rules, depts, give, scope, details, any: details || some(rules) }
}

// details are a role's other fields, as the API takes them.
export const details = (draft: Draft) => ({
  data_scope: draft.scope,
  dept_ids: draft.scope === 'custom' ? [...draft.depts] : [],
  grant_role_ids: [...draft.give],
})

const page = 1

// hiddenPages are pages that a role does not grant although it grants something below
// them, so that its members do not see them in the menu.
export function hiddenPages(places: Map<number, Place<PermissionNode>>, rules: Set<number>): PermissionNode[] {
  const hidden: PermissionNode[] = []
  for (const { node } of places.values()) {
    const belongs = childrenOf(node).some((child) => child.type > page && rules.has(child.id))
    if (node.type === page && node.show === 1 && belongs && !rules.has(node.id)) hidden.push(node)
  }
  return hidden
}

// needs are the permissions without which a page does not work: to read what it shows, and to see what it is below.
export function needs(places: Map<number, Place<PermissionNode>>, id: number): number[] {
  const place = places.get(id)
  if (place?.node.type !== page) return []
  const ids = childrenOf(place.node).flatMap((child) => (child.key === `${place.node.key}.query` ? [child.id] : []))
  for (let above = place.parent; above; above = places.get(above.id)?.parent) ids.push(above.id)
  return ids
}

// withNeeds adds to the permissions of a draft what the pages that were just added need, as far as it can be granted.
export function withNeeds(places: Map<number, Place<PermissionNode>>, old: Set<number>, now: Set<number>, free: (id: number) => boolean): Set<number> {
  const added = [...now].filter((id) => !old.has(id))
  return new Set([...now, ...added.flatMap((id) => needs(places, id).filter(free))])
}
