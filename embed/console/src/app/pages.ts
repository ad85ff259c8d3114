import { type ComponentType, lazy, type LazyExoticComponent } from 'react'
import type { Access } from '../api/types'
import { type Area, learn } from '../i18n'
import { Problem } from './States'

type Own = {
  Component: LazyExoticComponent<ComponentType> // loaded when it is first drawn
  begin: () => void // to load it
}

type Page = Own & { access: Access[] } // any of them opens the page

// own is a page in a file of its own, and the areas whose words it uses. Where it
// cannot be loaded, the page says so.
function own(load: () => Promise<ComponentType>, ...areas: Area[]): Own {
  let begun: Promise<{ default: ComponentType }> | undefined
  const begin = () =>
    (begun ??= Promise.all([load(), learn(...areas)]).then(
      ([Loaded]) => ({ default: Loaded }),
      () => ({ default: Problem }),
    ))
  return { Component: lazy(begin), begin: () => void begin() }
}

// page is one that a permission opens.
const page = (access: Access | Access[], load: () => Promise<ComponentType>, ...areas: Area[]): Page => ({
  access: [access].flat(),
  ...own(load, ...areas),
})

// The pages of the console, by the path that their permission has in the menus of
// the interface. A menu whose path is not here belongs to another program and is
// not shown.
export const pages: Record<string, Page> = {
  '/admin/list': page('admin.list.query', async () => (await import('../pages/people/Users')).Users, 'people'),
  '/user/list': page('user.list.query', async () => (await import('../pages/people/AppUsers')).AppUsers, 'people'),
  '/system/setting': page('system.setting.query', async () => (await import('../pages/settings/Settings')).Settings, 'settings', 'builtins'),
  '/system/dict': page('system.dict.query', async () => (await import('../pages/dicts/Dicts')).Dicts, 'dicts'),
  '/admin/role': page('admin.role.query', async () => (await import('../pages/rights/Roles')).Roles, 'rights', 'actions'),
  '/admin/rule': page('admin.rule.query', async () => (await import('../pages/rights/Permissions')).Permissions, 'rights', 'actions'),
  '/admin/dept': page('admin.dept.query', async () => (await import('../pages/rights/Departments')).Departments, 'rights'),
  '/system/session': page('system.session.query', async () => (await import('../pages/Sessions')).Sessions),
  '/system/loginlog': page('system.loginlog.query', async () => (await import('../pages/LoginLog')).LoginLog),
  '/system/monitor': page(
    ['system.monitor.request', 'system.monitor.auth', 'system.monitor.query', 'system.monitor.cache', 'system.monitor.redis', 'system.monitor.trace'],
    async () => (await import('../pages/monitor/Monitor')).Monitor,
    'monitor',
    'info',
  ),
  '/system/job': page('system.job.query', async () => (await import('../pages/jobs/Jobs')).Jobs, 'jobs'),
  '/system/info': page('system.info', async () => (await import('../pages/SystemInfo')).SystemInfo, 'dashboard', 'info'),
  '/file/list': page('file.list.query', async () => (await import('../pages/files/FileList')).FileList, 'files'),
  '/file/group': page('file.group.query', async () => (await import('../pages/files/FileGroups')).FileGroups, 'files'),
  '/file/trash': page('file.trash.query', async () => (await import('../pages/files/Trash')).Trash, 'files'),
}

export const home = own(async () => (await import('../pages/Home')).HomePage, 'monitor', 'dashboard', 'info')
export const password = own(async () => (await import('../pages/Password')).Password)
export const account = own(async () => (await import('../pages/account/Account')).AccountPage)

// The page of the address is loaded beside what the frame asks first.
const here = `/${location.pathname.split('/').slice(2, 4).join('/')}`
;(here === '/' ? home : pages[here])?.begin()
