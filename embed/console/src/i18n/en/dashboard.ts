export const dashboard = {
  'home.hello': 'Hello, {name}',
  'home.account': 'Your account',
  'home.roles': 'Roles',
  'home.dept': 'Department',
  'home.last': 'Last sign-in',
} as const
