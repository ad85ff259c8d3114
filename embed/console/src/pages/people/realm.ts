// The two realms: the users of the backend, and the users of the product behind it, called app
// users. What only one of them has is a value here or a small component of that realm's page.

// backend are the users of the backend, one of whom is signed in.
export const backend = {
  // Where the API has their records.
  path: '/admin/list',
  roles: '/admin/role',
  invitations: '/admin/invite',
  // What the names of permissions begin with.
  access: 'admin.list',
  role: 'admin.role',
  invite: 'admin.invite',
  // How other records and parts of the API name them.
  owner: 'user_id',
  collection: 'user',
  fields: 'users',
  choice: 'role',
  filter: 'filter_role',
  // Their CSV files.
  template: 'users.csv',
  columns: ['username', 'nickname', 'email', 'mobile', 'sex', 'department', 'roles', 'status'],
  texts: {
    title: 'menu.admin.list',
    empty: 'people.empty',
    create: 'people.create',
    edit: 'people.edit',
    import: 'people.import.title',
    remove: 'people.delete.text',
  },
  ours: true, // the signed-in user is one of them
  hasRoles: true, // at any time
  sex: true,
  actAs: 'admin.list.act_as',
} as const

// app are the app users.
export const app = {
  path: '/user/list',
  roles: '/user/role',
  invitations: '/user/invite',
  access: 'user.list',
  role: 'user.role',
  invite: 'user.invite',
  owner: 'app_user_id',
  collection: 'app_user',
  fields: 'app_users',
  choice: 'app_role',
  filter: 'app_role',
  template: 'app-users.csv',
  columns: ['username', 'nickname', 'email', 'mobile', 'roles', 'status'],
  texts: {
    title: 'menu.user.list',
    empty: 'people.app.empty',
    create: 'people.app.create',
    edit: 'people.app.edit',
    import: 'people.app.import',
    remove: 'people.delete.app_text',
  },
  ours: false,
  hasRoles: false,
  sex: false,
  actAs: undefined,
} as const

export type Realm = typeof backend | typeof app
