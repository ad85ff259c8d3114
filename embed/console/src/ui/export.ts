import type { Path } from '../api/paths'
import { download, type Query, save } from '../api/request'
import type { Access } from '../api/types'

export type Format = 'csv' | 'xlsx'
type Fields = Record<string, string[]> // of a record, by the key of the column that shows them

const device = ['browser', 'os']
const roles = ['role_names']

const user: Fields = { username: ['username', 'nickname'], contact: ['email', 'mobile'], belongs: ['dept_name', ...roles], roles, status: ['status'] }
const invitation: Fields = { user: ['username', 'nickname'], mail: ['mail_state', 'mail_response'] }
const key: Fields = {
  name: ['name', 'hint'],
  owner: ['username'],
  roles,
  state: ['state', 'expires_at'],
  last: ['last_used', 'last_ip'],
  networks: ['networks'],
}
const signIn: Fields = { username: ['username', 'realm'], result: ['result', 'count', 'provider_name', 'reason'], device }
const role: Fields = { name: ['name', 'description'] }
const file: Fields = { id: ['created_at'] }

// lists are the columns of each list that show something else than one field of that name.
const lists: Record<string, Fields> = {
  '/admin/list': user,
  '/user/list': user,
  '/admin/invite': invitation,
  '/user/invite': invitation,
  '/admin/key': key,
  '/admin/account/key': key,
  '/admin/role': role,
  '/user/role': role,
  '/system/loginlog': signIn,
  '/admin/loginlog': signIn,
  '/system/session': { device: [...device, 'provider_name'] },
  '/system/job': { progress: ['done', 'total', 'msg'] },
  '/system/webhook': { owner: ['owner_name'], last: ['last_at', 'last_status'], behind: ['behind', 'replaying'] },
  '/system/field': {
    access: ['self_access', 'backend_access', 'program_access'],
    uses: ['required', 'searchable', 'filterable', 'unique', 'listed'],
    state: ['applied', 'deleted'],
  },
  '/system/mail': { recipient: ['username', 'email'], state: ['state', 'next_at'], last: ['last_at', 'response'] },
  '/system/provider': { realms: ['users', 'app_users'] },
  '/system/provider-person': { account: ['username'], realm: ['user_id', 'app_user_id'], roles: ['role_ids'], dept: ['dept_id'] },
  '/file/list': file,
}

// exporting are the lists whose export needs a permission of its own.
const exporting: Record<string, Access> = { '/admin/list': 'admin.list.export', '/user/list': 'user.list.export' }

export const mayExport = (path: string, may: (access: Access) => boolean): boolean => !exporting[path] || may(exporting[path])

// exportList downloads all records of a list that match as a file, with the fields that columns show.
export async function exportList(path: string, format: Format, keys: string[], fixed: Query, search: string): Promise<void> {
  const asked = new URLSearchParams(search)
  const query: Query = {}
  for (const name of asked.keys()) query[name] = name.endsWith('[]') ? asked.getAll(name) : asked.get(name)
  const columns = [...new Set(keys.flatMap((one) => lists[path]?.[one] ?? [one]))].join(',')
  save(await download(path as Path<'GET'>, { ...fixed, ...query, page: undefined, pageSize: undefined, format, columns }))
}
