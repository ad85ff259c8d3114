import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { PermissionNode, Role } from '../../api/types'
import { placesOf } from '../../ui/tree/model'
import { changesOf, type Draft, details, draftOf, withNeeds } from './draft'

const ids = fc.uniqueArray(fc.integer({ min: 1, max: 12 }))
const scopes = fc.constantFrom<Role['data_scope']>('self', 'dept', 'all', 'custom')

// The API stores departments of a role only for the custom scope.
const roles = fc
  .record({ rule_ids: ids, dept_ids: ids, grant_role_ids: ids, data_scope: scopes })
  .map((role) => ({ ...role, dept_ids: role.data_scope === 'custom' ? role.dept_ids : [] }) as unknown as Role)

const drafts = fc
  .record({ rules: ids, depts: ids, give: ids, scope: scopes })
  .map(({ rules, depts, give, scope }): Draft => ({ rules: new Set(rules), depts: new Set(depts), give: new Set(give), scope }))

const sorted = (all: Iterable<number>) => [...all].sort((a, b) => a - b)

test('a draft that nobody has touched changes nothing', () => {
  fc.assert(
    fc.property(roles, (role) => {
      expect(changesOf(role, draftOf(role)).any).toBe(false)
    }),
  )
})

test('a role that is changed as its draft says holds what the draft holds', () => {
  fc.assert(
    fc.property(roles, drafts, (role, draft) => {
      const { rules, depts, give } = changesOf(role, draft)
      const apply = (old: number[], { given, taken }: typeof rules) => sorted([...old.filter((id) => !taken.includes(id)), ...given])
      const sent = details(draft)
      expect(apply(role.rule_ids, rules)).toEqual(sorted(draft.rules))
      expect(apply(role.dept_ids, depts)).toEqual(sorted(sent.dept_ids))
      expect(apply(role.grant_role_ids, give)).toEqual(sorted(sent.grant_role_ids))
    }),
  )
})

test('what is given was not held, and what is taken was', () => {
  fc.assert(
    fc.property(roles, drafts, (role, draft) => {
      const { rules, any } = changesOf(role, draft)
      expect(rules.given.some((id) => role.rule_ids.includes(id)) || rules.taken.some((id) => draft.rules.has(id))).toBe(false)
      const saved = { ...role, ...details(draft), rule_ids: [...draft.rules] } as Role
      expect(changesOf(saved, draft).any).toBe(false)
      if (!any) expect(sorted(role.rule_ids)).toEqual(sorted(draft.rules))
    }),
  )
})

test('a page that is granted includes what makes it work, and nothing else does', () => {
  const node = (id: number, type: number, key: string, children?: object[]) => ({ id, type, key, children }) as unknown as PermissionNode
  const actions = [node(3, 2, 'admin.list.query'), node(4, 2, 'admin.list.delete')]
  const places = placesOf([node(1, 0, 'admin', [node(2, 1, 'admin.list', actions)])])
  const after = (old: number[], now: number[], free = (_: number) => true) => sorted(withNeeds(places, new Set(old), new Set(now), free))
  expect(after([], [2])).toEqual([1, 2, 3])
  expect(after([], [4])).toEqual([4])
  expect(after([], [2], (id) => id !== 1)).toEqual([2, 3])
  expect(after([1, 2, 3], [1, 2])).toEqual([1, 2]) // what was taken away stays away
})
