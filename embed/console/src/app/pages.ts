import { consoleURL } from '../api/base'
import { type ComponentType, lazy, type LazyExoticComponent } from 'react'
import type { Access } from '../api/types'
import { type Area, loadTexts } from '../i18n'
import { Problem } from './States'

type Own = {
  Component: LazyExoticComponent<ComponentType> // loaded when first rendered
  begin: () => void // starts loading it
}

type Page = Own & { access: Access[] } // any of them grants access

// own is a page in its own file, with the text areas that it uses. If it can't be loaded,
// the page shows an error.
function own(load: () => Promise<ComponentType>, ...areas: Area[]): Own {
  let begun: Promise<{ default: ComponentType }> | undefined
  const begin = () =>
    (begun ??= Promise.all([load(), loadTexts(...areas)]).then(
      ([Loaded]) => ({ default: Loaded }),
      () => ({ default: Problem }),
    ))
  return { Component: lazy(begin), begin: () => void begin() }
}

// page is a page that requires a permission.
const page = (access: Access | Access[], load: () => Promise<ComponentType>, ...areas: Area[]): Page => ({
  access: [access].flat(),
  ...own(load, ...areas),
})

// Pages of the console, by their permission's path in the API's menus. Menu entries with
// other paths belong to other apps and are not shown.
export const pages: Record<string, Page> = {
  '/admin/list': page('admin.list.query', async () => (await import('../pages/people/Users')).Users, 'people'),
  '/user/list': page('user.list.query', async () => (await import('../pages/people/AppUsers')).AppUsers, 'people'),
  '/system/setting': page('system.setting.query', async () => (await import('../pages/settings/Settings')).Settings, 'settings', 'builtins'),
  '/system/dict': page('system.dict.query', async () => (await import('../pages/dicts/Dicts')).Dicts, 'dicts'),
  '/system/field': page('system.field.query', async () => (await import('../pages/fields/Fields')).Fields, 'fields', 'settings'),
  '/system/provider': page('system.provider.query', async () => (await import('../pages/providers/Providers')).Providers, 'providers'),
  '/admin/invite': page('admin.invite.query', async () => (await import('../pages/invite/Invitations')).Invitations, 'invite', 'people'),
  '/user/invite': page('user.invite.query', async () => (await import('../pages/invite/Invitations')).AppInvitations, 'invite', 'people'),
  '/admin/role': page('admin.role.query', async () => (await import('../pages/rights/Roles')).Roles, 'rights', 'actions', 'builtins'),
  '/user/role': page('user.role.query', async () => (await import('../pages/rights/AppRoles')).AppRoles, 'rights', 'actions'),
  '/user/rule': page('user.rule.query', async () => (await import('../pages/rights/AppPermissions')).AppPermissions, 'rights', 'actions'),
  '/admin/rule': page('admin.rule.query', async () => (await import('../pages/rights/Permissions')).Permissions, 'rights', 'actions'),
  '/admin/key': page('admin.key.query', async () => (await import('../pages/keys/Keys')).Keys, 'keys'),
  '/admin/dept': page('admin.dept.query', async () => (await import('../pages/rights/Departments')).Departments, 'rights'),
  '/system/session': page('system.session.query', async () => (await import('../pages/Sessions')).Sessions),
  '/system/loginlog': page('system.loginlog.query', async () => (await import('../pages/LoginLog')).LoginLog),
  '/system/monitor': page(
    ['system.monitor.request', 'system.monitor.auth', 'system.monitor.query', 'system.monitor.cache', 'system.monitor.redis', 'system.monitor.trace'],
    async () => (await import('../pages/monitor/Monitor')).Monitor,
    'monitor',
    'info',
  ),
  '/system/setup': page('system.setup.query', async () => (await import('../pages/setup/Setup')).Setup, 'setup'),
  '/system/job': page('system.job.query', async () => (await import('../pages/jobs/Jobs')).Jobs, 'jobs'),
  '/system/audit': page('system.audit.query', async () => (await import('../pages/audit/Activity')).Activity, 'audit', 'actions', 'builtins'),
  '/system/webhook': page('system.webhook.query', async () => (await import('../pages/webhooks/Webhooks')).Webhooks, 'webhooks', 'audit'),
  '/system/mail': page('system.mail.query', async () => (await import('../pages/mail/Mail')).MailPage, 'mail'),
  '/system/backup': page('system.copy.query', async () => (await import('../pages/backups/Backups')).Backups, 'backups', 'info'),
  '/system/node': page('system.node.query', async () => (await import('../pages/nodes/Nodes')).Nodes, 'nodes'),
  '/system/info': page('system.info', async () => (await import('../pages/SystemInfo')).SystemInfo, 'dashboard', 'info'),
  '/file/list': page('file.list.query', async () => (await import('../pages/files/FileList')).FileList, 'files'),
  '/file/group': page('file.group.query', async () => (await import('../pages/files/FileGroups')).FileGroups, 'files'),
  '/file/trash': page('file.trash.query', async () => (await import('../pages/files/Trash')).Trash, 'files'),
}

export const home = own(async () => (await import('../pages/Home')).HomePage, 'monitor', 'dashboard', 'info')
export const password = own(async () => (await import('../pages/Password')).Password)
export const manual = own(async () => (await import('../pages/help/Manual')).Manual, 'manual')
export const account = own(async () => (await import('../pages/account/Account')).AccountPage)

// Load the current page in parallel with the first requests of the frame.
const here = `/${location.pathname.slice(consoleURL().length).split('/').slice(0, 2).join('/')}`
;(here === '/' ? home : here.startsWith('/help') ? manual : pages[here])?.begin()
