import { expect, test, vi } from 'vitest'
import type { Role } from '../../api/types'

vi.stubGlobal('localStorage', { getItem: () => null })
vi.stubGlobal('navigator', { language: 'en', onLine: true })
const { isEqual, sharesOf } = await import('./compare')

const role = (values: Partial<Role>) => ({ id: 2, data_scope: 'all', dept_ids: [], grant_role_ids: [], status: 1, user_count: 0, ...values }) as unknown as Role

test('permissions belong to one role or to both', () => {
  const shares = sharesOf(new Set([1, 2, 3]), new Set([3, 4]))
  expect([...shares.first]).toEqual([1, 2])
  expect([...shares.second]).toEqual([4])
  expect([...shares.both]).toEqual([3])
})

test('the order of IDs is no difference', () => {
  expect(isEqual('grant_role_ids', role({ grant_role_ids: [2, 10] }), role({ grant_role_ids: [10, 2] }))).toBe(true)
  expect(isEqual('grant_role_ids', role({ grant_role_ids: [2] }), role({ grant_role_ids: [2, 3] }))).toBe(false)
})

test('owners can assign every role', () => {
  expect(isEqual('grant_role_ids', role({ id: 1 }), role({}))).toBe(false)
})

test('departments matter to a scope of selected ones', () => {
  expect(isEqual('data_scope', role({ data_scope: 'custom', dept_ids: [1, 2] }), role({ data_scope: 'custom', dept_ids: [2, 1] }))).toBe(true)
  expect(isEqual('data_scope', role({ data_scope: 'custom', dept_ids: [1] }), role({ data_scope: 'custom', dept_ids: [2] }))).toBe(false)
  expect(isEqual('data_scope', role({ data_scope: 'all', dept_ids: [1] }), role({ data_scope: 'all' }))).toBe(true)
  expect(isEqual('data_scope', role({ data_scope: 'all' }), role({ data_scope: 'self' }))).toBe(false)
})
