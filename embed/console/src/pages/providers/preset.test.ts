import { expect, test, vi } from 'vitest'
import type { Provider } from '../../api/types'

vi.stubGlobal('location', { pathname: '/console/' })
vi.stubGlobal('addEventListener', () => {})
const { atFields, blank, bodyOf, filled, isTemplate, kinds, presets, valuesOf } = await import('./preset')
const { Failure } = await import('../../api/request')

test('a kind fills in what no one has entered', () => {
  expect(filled('google', {})).toEqual(presets.google)
  expect(filled('github', { issuer: presets.keycloak.issuer, scopes: ['email', 'profile'] })).toEqual(presets.github)
  expect(filled('github', { issuer: 'https://id.example.org', scopes: ['profile', 'groups'] })).toEqual({})
})

test('an issuer with capital words to replace is known', () => {
  expect(kinds.filter((kind) => isTemplate(presets[kind].issuer))).toEqual(['microsoft', 'keycloak', 'authentik'])
  expect(isTemplate('https://id.example.org/realms/GHOST')).toBe(false)
})

test('the client secret is sent only if it was entered or is to be removed', () => {
  const values = { ...blank, kind: 'openid', name: 'id', title: 'ID', issuer: 'https://id.example.org', client_id: 'c', realms: ['app_users'] } as Parameters<
    typeof bodyOf
  >[0]
  expect(bodyOf(values)).not.toHaveProperty('client_secret')
  expect(bodyOf({ ...values, client_secret: 's', remove_secret: true }).client_secret).toBe('s')
  expect(bodyOf({ ...values, remove_secret: true }).client_secret).toBe('')
  expect(bodyOf(values)).toMatchObject({ users: 0, app_users: 1, status: 0, sort: 0 })
  expect(bodyOf(values)).not.toHaveProperty('realms')
  expect(bodyOf(values)).not.toHaveProperty('remove_secret')
})

test('a stored provider comes back as it was', () => {
  const stored = {
    kind: 'keycloak',
    name: 'kc',
    title: 'KC',
    issuer: 'https://id.example.org/realms/a',
    client_id: 'c',
    scopes: ['profile'],
    domains: ['example.org'],
    users: 1,
    app_users: 1,
    creates: 'invitation',
    trusts_address: 1,
    factor_values: ['mfa'],
    ends_session: 1,
    mappings: [{ claim: 'groups', value: 'staff', role_ids: [2], app_role_ids: [], dept_id: 3 }],
    status: 1,
    sort: 5,
  } as unknown as Provider
  expect(bodyOf(valuesOf(stored))).toEqual(stored)
})

test('faults of mappings and realms are at their fields', () => {
  const cause = new Failure(400, 'invalid', 'm', 2, { 'mappings[1].role_ids': 'no', 'users': 'off', 'issuer': 'bad' })
  expect(atFields(cause, (n) => `Mapping ${n}`).errors).toEqual({ mappings: 'Mapping 2: no', realms: 'off', issuer: 'bad' })
})
