import { expect, test } from 'vitest'

// A form needs only the permission of its operation: it loads what can be chosen with useChoices
// instead of the lists, which have permissions of their own. These use a list, for another reason.

const uses: Record<string, string> = {
  'pages/files/useGroups.ts': 'choices for those who can’t see the list',
  'pages/people/Access.tsx': 'the permissions of a user, whose page needs the same permission',
  'pages/people/Explain.tsx': 'the permissions to ask about, which needs the same permission',
  'pages/people/Users.tsx': 'choices for those who can’t see the list',
  'pages/rights/AppRoles.tsx': 'the list',
  'pages/rights/CompareDrawer.tsx': 'choices for those who can’t see the list',
  'pages/rights/Departments.tsx': 'the list',
  'pages/rights/Permissions.tsx': 'the list',
  'pages/rights/RightsDrawer.tsx': 'choices for those who can’t see the list',
  'pages/rights/Roles.tsx': 'the list',
  'pages/settings/useSettings.ts': 'choices for those who can’t see the list',
}

const sources = import.meta.glob<string>('../**/*.{ts,tsx}', { query: '?raw', import: 'default', eager: true })

const list =
  /(?:useGet|useAll|useTable|getAll|get)(?:<[^>]*>)?\([^\n;]*?(?:'\/(?:admin\/(?:role|dept|rule)|user\/(?:role|rule)|file\/group|system\/setting-group)'|realm\.roles)/

test('forms load what can be chosen without the permission to list it', () => {
  const found = Object.entries(sources).filter(([path, source]) => !path.includes('test') && list.test(source))
  expect(found.map(([path]) => path.replace('../', '')).sort()).toEqual(Object.keys(uses).sort())
})
