import { type ComponentType, lazy, type LazyExoticComponent } from 'react'
import type { Access } from '../api/types'
import { Problem } from './States'

type Page = {
  access: Access[] // any of them opens the page
  Component: LazyExoticComponent<ComponentType>
}

// own is a page in a file of its own. Where it cannot be loaded, the page says so.
const own = (load: () => Promise<ComponentType>) => lazy(async () => ({ default: await load().catch(() => Problem) }))

// page is one that a permission opens, loaded when it is first opened.
const page = (access: Access | Access[], load: () => Promise<ComponentType>): Page => ({
  access: [access].flat(), Component: own(load),
})

// The pages of the console, by the path that their permission has in the menus of
// the interface. A menu whose path is not here belongs to another program and is
// not shown.
export const pages: Record<string, Page> = {
  '/admin/list': page('admin.list.query', async () => (await import('../pages/people/Users')).Users),
  '/user/list': page('user.list.query', async () => (await import('../pages/people/AppUsers')).AppUsers),
  '/system/setting': page('system.setting.query', async () => (await import('../pages/settings/Settings')).Settings),
  '/system/dict': page('system.dict.query', async () => (await import('../pages/dicts/Dicts')).Dicts),
  '/admin/role': page('admin.role.query', async () => (await import('../pages/rights/Roles')).Roles),
  '/admin/rule': page('admin.rule.query', async () => (await import('../pages/rights/Permissions')).Permissions),
  '/admin/dept': page('admin.dept.query', async () => (await import('../pages/rights/Departments')).Departments),
  '/system/session': page('system.session.query', async () => (await import('../pages/Sessions')).Sessions),
  '/system/loginlog': page('system.loginlog.query', async () => (await import('../pages/LoginLog')).LoginLog),
  '/system/monitor': page(
    ['system.monitor.request', 'system.monitor.auth', 'system.monitor.query', 'system.monitor.cache', 'system.monitor.redis', 'system.monitor.trace'],
    async () => (await import('../pages/monitor/Monitor')).Monitor,
  ),
  '/system/info': page('system.info', async () => (await import('../pages/SystemInfo')).SystemInfo),
  '/file/list': page('file.list.query', async () => (await import('../pages/files/FileList')).FileList),
  '/file/group': page('file.group.query', async () => (await import('../pages/files/FileGroups')).FileGroups),
  '/file/trash': page('file.trash.query', async () => (await import('../pages/files/Trash')).Trash),
}

export const home = own(async () => (await import('../pages/Home')).HomePage)
export const password = own(async () => (await import('../pages/Password')).Password)
export const account = own(async () => (await import('../pages/account/Account')).AccountPage)
