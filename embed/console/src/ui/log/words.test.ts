import { beforeAll, expect, test, vi } from 'vitest'
import type { LogChange, LogEntry, LogField } from '../../api/types'
import type { Texts } from './words'

let words: (entry: LogEntry, t: Texts) => string
const texts: Record<string, Texts> = {}

beforeAll(async () => {
  for (const language of ['en', 'zh']) {
    vi.resetModules()
    vi.stubGlobal('localStorage', { getItem: () => null })
    vi.stubGlobal('navigator', { language, onLine: true })
    const i18n = await import('../../i18n')
    await i18n.loadTexts('frame', 'audit', 'actions', 'builtins')
    texts[language] = i18n.t
  }
  words = (await import('./words')).words
})

const ada: LogEntry['actor'] = { kind: 'user', id: 7, name: 'ada' }

function entry(more: Partial<LogEntry>): LogEntry {
  return { seq: 12, event_id: 'g-12', at: '2026-11-23T09:00:00Z', actor: ada, operation: { title: 'Change a role' }, changes: [], ...more }
}

function change(operation: LogChange['operation'], collection: string, name: string | undefined, ...fields: LogField[]): LogChange {
  return { operation, collection, id: 3, name, fields }
}

const field = (name: string, old?: unknown, now?: unknown): LogField => ({ name, old, new: now })
const paid = (name: string): LogChange => change('delete', 'dict_item', name, { name: 'dict_id', old: 1, labels: { 1: 'Order state' } })
const session = (operation: LogChange['operation']): LogChange => change(operation, 'session', undefined, { name: 'user_id', old: 5, labels: { 5: 'ben' } })
const password = change('update', 'password_hash', undefined, { name: 'hash', secret: 1 })

const link = (purpose: string): Partial<LogEntry> => ({
  action: 'create_link',
  details: { purpose, kind: 'app_user', id: 9 },
  changes: [change('create', 'link', undefined)],
})

const ben: LogEntry['actor'] = { kind: 'user', id: 5, name: 'ben' }

const cases: [string, Partial<LogEntry>, string, string?][] = [
  [
    'a value of a built-in setting',
    { changes: [change('update', 'setting', 'Idle timeout', field('values', '30', '15'))] },
    'ada changed the setting Idle timeout: value from 30 to 15',
    'ada 修改了设置项 空闲超时：值由 30 改为 15',
  ],
  [
    'a value that is too long for a sentence',
    { changes: [change('update', 'setting', 'Colours', field('values', '["red"]', '["blue"]'))] },
    'ada changed the setting Colours: value',
  ],
  [
    'a secret value',
    { changes: [change('update', 'setting', 'SMTP password', { name: 'values', secret: 1 })] },
    'ada changed the setting SMTP password: value',
  ],
  [
    'a user with the name of a built-in text',
    { changes: [change('create', 'user', 'Idle timeout')] },
    'ada created the user Idle timeout',
    'ada 新建了用户 Idle timeout',
  ],
  [
    'a change by somebody who acts as a user',
    { as: ben, changes: [change('create', 'dict', 'Colours')] },
    'ada as ben created the dictionary Colours',
    'ada 代表 ben 新建了字典 Colours',
  ],
  ['acting begun', { as: ben, action: 'act_as', details: { user_id: 5, writes: false } }, 'ada started acting as ben', 'ada 开始以 ben 的身份操作'],
  ['acting begun, with changes', { as: ben, action: 'act_as', details: { user_id: 5, writes: true } }, 'ada started acting as ben, with changes allowed'],
  ['acting stopped, as a user who is not shown', { action: 'act_as_ended', details: { user_id: 5 } }, 'ada stopped acting as User 5'],
  ['an invitation link', link('invitation'), 'ada created an invitation link for app user 9', 'ada 为 应用用户 9 创建了邀请链接'],
  ['a password reset link', link('password_reset'), 'ada created a password reset link for app user 9'],
  [
    'a user with an invitation link',
    { ...link('invitation'), changes: [change('create', 'user', 'ben'), change('create', 'link', undefined)] },
    'ada created the user ben, and 1 more change',
  ],
  [
    'several invitation links',
    { ...link('invitation'), changes: [change('create', 'link', undefined), change('create', 'link', undefined)] },
    'ada created 2 one-time links',
  ],
  ['a mailed invitation', { changes: [change('create', 'link', undefined)] }, 'ada created one-time link 3', 'ada 新建了一次性链接 3'],
  [
    'a passkey with the recovery codes that come along',
    { changes: [change('create', 'recovery_code', undefined), change('create', 'passkey', 'Laptop')] },
    'ada created the passkey Laptop',
    'ada 新建了通行密钥 Laptop',
  ],
  ['recovery codes', { changes: [change('update', 'recovery_code', undefined)] }, 'ada changed recovery codes 3'],
  ['a new record', { changes: [change('create', 'role', 'Editor')] }, 'ada created the role Editor', 'ada 新建了角色 Editor'],
  [
    'permissions',
    { changes: [change('update', 'role', 'Editor', { name: 'rule_ids', added: [1, 2], added_count: 2, removed: [3], removed_count: 1 })] },
    'ada changed the role Editor: +2 −1 permissions',
    'ada 修改了角色 Editor：权限 +2 −1',
  ],
  [
    'a value',
    { changes: [change('update', 'role', 'Editors', field('name', 'Editor', 'Editors'))] },
    'ada changed the role Editors: name from Editor to Editors',
    'ada 修改了角色 Editors：名称由 Editor 改为 Editors',
  ],
  [
    'a reference',
    { changes: [change('update', 'user', 'ben', { ...field('dept_id', 1, 2), labels: { 1: 'Sales', 2: 'Office' } })] },
    'ada changed the user ben: department from Sales to Office',
  ],
  ['several fields', { changes: [change('update', 'user', 'ben', field('email', 'a', 'b'), field('sex', 0, 1))] }, 'ada changed the user ben: email, gender'],
  [
    'many fields',
    { changes: [change('update', 'user', 'ben', field('email'), field('sex'), field('mobile'), field('dept_id'))] },
    'ada changed the user ben: email, gender and 2 more',
  ],
  [
    'a replayed entry',
    { action: 'webhook_replay', details: { webhook: 7, from: 12, until: 12 } },
    'ada replayed the events of entry 12 to webhook 7',
    'ada 向 Webhook 7 重放了记录 12 的事件',
  ],
  ['replayed entries', { action: 'webhook_replay', details: { webhook: 7, from: 2, until: 12 } }, 'ada replayed the events of entries 2 to 12 to webhook 7'],
  [
    'a resumed webhook',
    { action: 'webhook_resume', details: { webhook: 3, latest: 0 }, changes: [change('update', 'webhook', 'https://a.example', field('paused', 'gone', ''))] },
    'ada resumed the webhook https://a.example',
    'ada 恢复了 Webhook https://a.example',
  ],
  ['skipped events', { action: 'webhook_resume', details: { webhook: 3, latest: 1 } }, 'ada resumed webhook 3 and skipped the waiting events'],
  ['a skipped event', { action: 'webhook_skip', details: { webhook: 3, event: 'g-9' } }, 'ada skipped the event g-9 of webhook 3'],
  ['a new secret', { action: 'webhook_secret', details: { webhook: 3 } }, 'ada rotated the secret of webhook 3', 'ada 轮换了 Webhook 3 的密钥'],
  ['a new key', { changes: [change('create', 'key', 'deploy')] }, 'ada created the API key deploy', 'ada 新建了API 密钥 deploy'],
  ['a confirmation', { action: 'reauth' }, 'ada confirmed their identity', 'ada 确认了身份'],
  ['an unlocked user', { action: 'unlock', details: { kind: 'user', id: 7, tries: 5 } }, 'ada unlocked user 7', 'ada 解除了 用户 7 的锁定'],
  ['a rotated key', { action: 'rotate_key', details: { key: 3 } }, 'ada rotated API key 3'],
  [
    'secrets that were read',
    { actor: { kind: 'key', id: 1, name: 'deploy' }, action: 'read_secrets', details: { setting_group: 6, group: 'payment', settings: ['stripe_key'] } },
    'API key deploy read the secrets of the setting group payment',
    'API 密钥 deploy 读取了设置分组 payment 的保密值',
  ],
  [
    'secrets that were read often',
    { actor: { kind: 'key', id: 1, name: 'deploy' }, action: 'read_secrets', details: { group: 'payment', settings: ['stripe_key'], count: 17 } },
    'API key deploy read the secrets of the setting group payment 17 times within an hour',
    'API 密钥 deploy 在一小时内读取设置分组 payment 的保密值 17 次',
  ],
  [
    'a key that acts',
    { actor: { kind: 'key', id: 1, name: 'deploy' }, changes: [change('update', 'role', 'Editor', field('status', 1, 0))] },
    'API key deploy disabled the role Editor',
    'API 密钥 deploy 停用了角色 Editor',
  ],
  [
    'a key that is refused',
    {
      actor: { kind: 'key', id: 1, name: 'deploy' },
      action: 'denied',
      details: { count: 2 },
      operation: { title: 'List users', method: 'GET', route: '/admin/list' },
    },
    '2 requests by API key deploy were refused (GET /admin/list)',
  ],
  ['an erased value', { changes: [change('update', 'user', 'ben', { name: 'email', erased: 1 })] }, 'ada changed the user ben: email'],
  ['a status', { changes: [change('update', 'user', 'ben', field('status', 1, 0)), session('delete')] }, 'ada disabled the user ben', 'ada 停用了用户 ben'],
  ['the trash', { changes: [change('update', 'file', 'a.txt', field('trashed_at', null, '2026-11-23T09:00:00Z'))] }, 'ada moved the file a.txt to the trash'],
  [
    'out of the trash',
    { changes: [change('update', 'file', 'a.txt', field('trashed_at', '2026-11-23T09:00:00Z', null))] },
    'ada restored the file a.txt from the trash',
  ],
  ['an upload', { changes: [change('create', 'file', 'a.txt')] }, 'ada uploaded the file a.txt'],
  [
    'several records of one parent',
    { changes: [paid('Paid'), paid('Sent'), paid('Back')] },
    'ada deleted 3 dictionary items of Order state',
    'ada 删除了“Order state”的 3 个字典项',
  ],
  [
    'several kinds of change',
    { operation: { method: 'DELETE', title: 'Delete a permission' }, changes: [change('update', 'role', 'Editor'), change('delete', 'permission', 'Refund')] },
    'ada deleted the permission Refund, and 1 more change',
  ],
  ['a collection of a later version', { changes: [change('create', 'invoice', 'A1')] }, 'ada created the invoice A1'],
  ['a record without a name', { changes: [change('delete', 'file', undefined)] }, 'ada deleted file 3'],
  ['an erased record', { changes: [{ ...change('create', 'user', undefined), erased: 1 }] }, 'ada created the user of an erased person'],
  [
    'an erased person',
    { actor: { kind: 'user', id: 7, erased: 1 }, changes: [change('create', 'role', 'Editor')] },
    'An erased person created the role Editor',
  ],
  ['a hidden actor', { actor: { kind: 'unknown' }, changes: [change('create', 'role', 'Editor')] }, 'Someone created the role Editor'],
  ['an app user', { actor: { kind: 'app_user', id: 2, name: 'cay' }, changes: [session('create')] }, 'App user cay signed in'],
  ['hidden changes', { changes: [change('create', 'role', 'Editor')], hidden: 2 }, 'ada created the role Editor, and 2 changes that you can’t see'],
  ['only hidden changes', { hidden: 1 }, 'ada made 1 change that you can’t see', 'ada 进行了 1 项您无权查看的变更'],
  ['a sign-in', { changes: [session('create'), change('create', 'device', undefined)] }, 'ada signed in', 'ada 登录'],
  ['a sign-out', { operation: { method: 'POST', route: '/admin/logout', title: 'Sign out' }, changes: [session('delete')] }, 'ada signed out'],
  ['an ended session', { changes: [session('delete')] }, 'ada ended a session of ben'],
  ['a password', { changes: [change('update', 'user', 'ben', field('must_change_password', 0, 1)), password] }, 'ada set the password of the user ben'],
  [
    'the own password',
    { changes: [{ ...change('update', 'user', 'ada', field('must_change_password', 1, 0)), id: 7 }, password] },
    'ada changed their password',
  ],
  ['a start', { actor: { kind: 'system' }, action: 'start', details: { version: '1.2' } }, 'System started, version 1.2', '系统已启动，版本 1.2'],
  ['a start without details', { actor: { kind: 'system' }, action: 'start' }, 'System started'],
  [
    'refused requests',
    { action: 'denied', details: { count: 12 }, operation: { method: 'PUT', route: '/admin/role/:id', title: 'Change a role' } },
    '12 requests by ada were refused (PUT /admin/role/:id)',
    'ada 的 12 个请求被拒绝（PUT /admin/role/:id）',
  ],
  [
    'refused requests of others',
    { actor: { kind: 'anonymous' }, action: 'denied', details: { count: 1 }, operation: { title: 'Other operations' } },
    '1 request was refused (Other operations)',
  ],
  ['failed sign-ins', { actor: { kind: 'anonymous' }, action: 'denied', details: { count: 2, network: '10.1.2.0/24' } }, '2 sign-ins from 10.1.2.0/24 failed'],
  [
    'an export of app users',
    { action: 'export', operation: { method: 'GET', route: '/user/list-export', title: 'Export app users' } },
    'ada exported “App users”',
  ],
  ['an export', { action: 'export', operation: { method: 'GET', route: '/admin/list-export', title: 'Export users' } }, 'ada exported “Users”'],
  ['an export of a list', { action: 'export', operation: { method: 'GET', route: '/system/session', title: 'List sessions' } }, 'ada exported “Sessions”'],
  ['an export of something else', { action: 'export', operation: { title: 'Export orders' } }, 'ada exported data'],
  [
    'the data of a person',
    { action: 'export_person', details: { id: '5' }, operation: { route: '/user/list/:id/data', title: '' } },
    'ada downloaded the personal data of app user 5',
  ],
  [
    'an erasure',
    { action: 'erase', details: { realm: 'admin', id: 5 }, changes: [{ ...change('delete', 'user', undefined), erased: 1 }] },
    'ada erased the personal data of user 5',
  ],
  ['a backup', { action: 'backup' }, 'ada downloaded a backup'],
  ['a link', { action: 'create_link', details: { id: '9' } }, 'ada created a link to file 9'],
  ['a restore', { actor: { kind: 'cli' }, action: 'restore', details: { replaced: '' } }, 'Data was restored from a backup'],
  [
    'an undo',
    { action: 'undo', details: { seq: 7 }, changes: [paid('Paid'), paid('Sent')] },
    'ada undid entry 7: 2 dictionary items of Order state',
    'ada 撤销了记录 7：“Order state”的 2 个字典项',
  ],
  [
    'an undo of all that an actor did',
    { action: 'undo', details: { by: 'key:3', since: '2026-11-30T14:00:00' }, changes: [paid('Paid')] },
    'ada undid all changes by API key 3 since 2026-11-30 14:00: the dictionary item Paid of Order state',
    'ada 撤销了 API 密钥 3 自 2026-11-30 14:00 以来的所有更改：“Order state”的 字典项 Paid',
  ],
  [
    'an undo of a period',
    { action: 'undo', details: { by: 'user:3', since: '2026-11-30T14:00:00', until: '2026-11-30T18:00:00' }, changes: [] },
    'ada undid all changes by User 3 from 2026-11-30 14:00 to 2026-11-30 18:00',
  ],
  [
    'the end of retention',
    { actor: { kind: 'system' }, action: 'drop_entries', details: { first: 1, last: 90 } },
    'Entries 1 to 90 reached the end of their retention and were removed',
  ],
  ['a command', { actor: { kind: 'cli' }, operation: { title: 'reeve secret rotate' } }, 'The command line ran “reeve secret rotate”'],
  [
    'a command that changes records',
    { actor: { kind: 'cli' }, operation: { title: '' }, changes: [change('update', 'user', 'admin')] },
    'The command line changed the user admin',
  ],
  ['an action of a later version', { action: 'print', operation: { title: 'Print an invoice' } }, 'ada: Print an invoice'],
]

test.each(cases)('%s', (_, more, en, zh) => {
  expect(words(entry(more), texts.en!)).toBe(en)
  if (zh) expect(words(entry(more), texts.zh!)).toBe(zh)
  else expect(words(entry(more), texts.zh!)).not.toMatch(/audit\./)
})
