// topicsOf returns the collections, or types of events, whose changes change the response of a path.
export function topicsOf(path: string): readonly string[] | undefined {
  return topics[path] ?? (/^\/system\/dict\/\d+\/item$/.test(path) ? items : undefined)
}

// isTold reports whether events tell all changes of the response of a path, so that it needs no polling.
export const isTold = (path: string): boolean => topicsOf(path) !== undefined && !polled.includes(path)

// polled also change without events: failed sign-ins, sizes of files, and deliveries.
const polled = ['/system/loginlog', '/system/info', '/system/webhook']

const items = ['dict_item']

const topics: { [path: string]: readonly string[] } = {
  '/admin/list': ['user'],
  '/user/list': ['app_user'],
  '/admin/invite': ['link'],
  '/user/invite': ['link'],
  '/api/home': ['setting'],
  '/admin/role': ['role'],
  '/user/role': ['app_role'],
  '/user/rule': ['app_permission'],
  '/user/permission/explain': ['app_user', 'app_role', 'app_permission'],
  '/admin/rule': ['permission'],
  '/admin/dept': ['dept'],
  '/admin/key': ['key'],
  '/admin/account/key': ['key'],
  '/admin/permission/effective': ['user', 'role', 'permission', 'dept'],
  '/admin/permission/explain': ['user', 'role', 'permission', 'key'],
  '/system/dict': ['dict'],
  '/system/setting-value': ['setting'],
  '/system/field': ['custom_field'],
  '/system/session': ['session'],
  '/admin/session': ['session'],
  '/admin/account/device': ['session'],
  '/system/loginlog': ['session.started'],
  '/system/info': ['user.created', 'user.deleted', 'role.created', 'role.deleted', 'dept.created', 'dept.deleted'],
  '/system/job': ['job'],
  '/system/webhook': ['*'], // they send every change
  '/file/list': ['file'],
  '/file/trash': ['file'],
  '/file/group': ['file_group'],
}
