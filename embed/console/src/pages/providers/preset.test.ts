import { expect, test, vi } from 'vitest'
import type { Provider } from '../../api/types'
import type { Values } from './preset'

vi.stubGlobal('location', { pathname: '/console/' })
vi.stubGlobal('addEventListener', () => {})
const { atFields, blank, bodyOf, filled, isTemplate, kinds, noDirectory, presets, valuesOf } = await import('./preset')
const { Failure } = await import('../../api/request')

test('a kind fills in what no one has entered', () => {
  expect(filled('google', {})).toEqual(presets.google)
  expect(filled('github', { issuer: presets.keycloak.issuer, scopes: ['email', 'profile'] })).toEqual(presets.github)
  const entered = { issuer: 'https://id.example.org', scopes: ['profile', 'groups'] }
  expect(Object.keys(filled('github', entered))).not.toContain('issuer')
  expect(filled('ldap', { ...presets.active_directory, user_filter: '(uid={username})' })).toMatchObject({ id_attribute: 'entryUUID' })
  expect(Object.keys(filled('ldap', { user_filter: '(cn={username})' }))).not.toContain('user_filter')
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
    ...noDirectory,
  } as unknown as Provider
  expect(bodyOf(valuesOf(stored))).toEqual(stored)
})

test('a stored directory comes back as it was', () => {
  const stored = {
    kind: 'ldap',
    name: 'company',
    title: 'Company',
    issuer: '',
    client_id: '',
    scopes: [],
    domains: [],
    users: 1,
    app_users: 0,
    creates: 'always',
    trusts_address: 1,
    factor_values: [],
    ends_session: 0,
    servers: ['ldaps://ldap.example.org'],
    plain: 1,
    certificates: 'PEM',
    bind_dn: 'cn=reader',
    base_dn: 'ou=people',
    user_filter: '(uid={username})',
    id_attribute: 'entryUUID',
    username_attribute: 'uid',
    name_attribute: 'cn',
    email_attribute: 'mail',
    group_base_dn: 'ou=groups',
    group_filter: '(member={dn})',
    mappings: [],
    status: 1,
    sort: 0,
  } as unknown as Provider
  expect(bodyOf(valuesOf(stored))).toEqual(stored)
})

test('fields that a kind does not have are sent empty', () => {
  const entered = { ...blank, name: 'a', title: 'A', issuer: 'https://id.example.org', client_id: 'c', servers: ['ldap://a'], base_dn: 'dc=a', plain: true }
  expect(bodyOf({ ...entered, kind: 'openid' } as Values)).toMatchObject({ client_id: 'c', ...noDirectory })
  expect(bodyOf({ ...entered, kind: 'ldap' } as Values)).toMatchObject({ client_id: '', issuer: '', scopes: [], servers: ['ldap://a'], plain: 1 })
})

test('faults of mappings and realms are at their fields', () => {
  const cause = new Failure(400, 'invalid', 'm', 2, { 'mappings[1].role_ids': 'no', 'users': 'off', 'issuer': 'bad' })
  expect(atFields(cause, (n) => `Mapping ${n}`).errors).toEqual({ mappings: 'Mapping 2: no', realms: 'off', issuer: 'bad' })
})
