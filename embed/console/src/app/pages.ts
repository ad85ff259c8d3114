import { type ComponentType, lazy, type LazyExoticComponent } from 'react'
import type { Access } from '../api/types'

type Page = {
  access: Access[] // any of them opens the page
  Component: LazyExoticComponent<ComponentType>
}

// page is a module of its own, loaded when it is first opened.
const page = (access: Access | Access[], load: () => Promise<ComponentType>): Page => ({
  access: [access].flat(), Component: lazy(async () => ({ default: await load() })),
})

// The pages of the console, by the path that their permission has in the menus of
// the interface. A menu whose path is not here belongs to another program and is
// not shown.
export const pages: Record<string, Page> = {
  '/admin/list': page('admin.list.query', async () => (await import('../pages/people/Users')).Users),
  '/user/list': page('user.list.query', async () => (await import('../pages/people/AppUsers')).AppUsers),
  '/system/setting': page('system.setting.query', async () => (await import('../pages/settings/Settings')).Settings),
  '/system/dict': page('system.dict.query', async () => (await import('../pages/dicts/Dicts')).Dicts),
  '/system/session': page('system.session.query', async () => (await import('../pages/Sessions')).Sessions),
  '/system/loginlog': page('system.loginlog.query', async () => (await import('../pages/LoginLog')).LoginLog),
  '/system/monitor': page(
    ['system.monitor.request', 'system.monitor.auth', 'system.monitor.query', 'system.monitor.cache', 'system.monitor.redis', 'system.monitor.trace'],
    async () => (await import('../pages/monitor/Monitor')).Monitor,
  ),
  '/system/info': page('system.info', async () => (await import('../pages/SystemInfo')).SystemInfo),
}

export const home = lazy(async () => ({ default: (await import('../pages/Home')).HomePage }))
export const password = lazy(async () => ({ default: (await import('../pages/Password')).Password }))
export const account = lazy(async () => ({ default: (await import('../pages/account/Account')).AccountPage }))
