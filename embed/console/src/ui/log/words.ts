import dayjs from 'dayjs'
import type { LogChange, LogEntry, LogField } from '../../api/types'
import type { Key } from '../../i18n'

// An entry of the change log as a sentence: "ada changed the role Editor: +2 −1 permissions".

export type Texts = (key: Key, values?: Record<string, string | number>) => string

// Records that change along with others. The first of them is named only if nothing else changed.
const companions = ['session', 'password_hash', 'recovery_code', 'device', 'avatar', 'setting_secret', 'provider_secret', 'job', 'installation']

const operations: Record<string, LogChange['operation']> = { POST: 'create', PUT: 'update', DELETE: 'delete' }

const parents = ['dict_id', 'user_id', 'app_user_id'] // fields that name what a record belongs to

const mostFields = 3
const mostText = 40

const some = (t: Texts, key: string, values?: Record<string, string | number>): string | undefined => {
  const text = t(key as Key, values)
  return text === key ? undefined : text
}

// what is the noun of a collection. Without one, its name stands for it.
export const what = (t: Texts, collection: string): string => some(t, `audit.what.${collection}`) ?? collection.replaceAll('_', ' ')

// label is the name of a field.
export const label = (t: Texts, collection: string, name: string): string =>
  some(t, `audit.field.${collection}.${name}`) ?? some(t, `audit.field.${name}`) ?? name.replaceAll('_', ' ')

// named are the collections whose names may be built-in texts, which are translated.
const named = ['setting', 'setting_group', 'role', 'permission', 'dict']

const nameOf = (t: Texts, collection: string, name: string): string => (named.includes(collection) ? some(t, `given.${name}`) : undefined) ?? name

// thing names a changed record.
export function thing(t: Texts, { collection, id, name, erased }: Pick<LogChange, 'collection' | 'id' | 'name' | 'erased'>): string {
  const noun = what(t, collection)
  if (erased) return t('audit.one.erased', { what: noun })
  return name ? t('audit.one', { what: noun, name: nameOf(t, collection, name) }) : t('audit.one.number', { what: noun, id })
}

// title is a name as a heading, without an article.
export function title(t: Texts, change: Pick<LogChange, 'collection' | 'id' | 'name' | 'erased'>): string {
  const noun = what(t, change.collection)
  const name = change.erased ? t('audit.diff.erased') : change.name ? nameOf(t, change.collection, change.name) : `#${change.id}`
  return `${noun[0]?.toUpperCase()}${noun.slice(1)} ${name}`
}

// who is the name of the actor.
export function who(t: Texts, { kind, id = 0, name, erased }: LogEntry['actor']): string {
  if (kind === 'key') return t('audit.who.key', { name: name || id })
  if (kind !== 'user' && kind !== 'app_user') return t(`audit.who.${kind}`)
  if (erased) return t('audit.who.erased')
  if (kind === 'app_user') return t('audit.who.app', { name: name || id })
  return name || t('audit.who.number', { id })
}

// whoOf is who has made an entry, and as whom.
function whoOf(t: Texts, { actor, as }: Pick<LogEntry, 'actor' | 'as'>): string {
  return as ? t('audit.who.as', { who: who(t, actor), as: who(t, as) }) : who(t, actor)
}

const detail = (details: unknown, name: string): string => {
  const value = typeof details === 'object' && details !== null ? (details as Record<string, unknown>)[name] : undefined
  if (value === true) return '1'
  return typeof value === 'string' || typeof value === 'number' ? String(value) : ''
}

// words is an entry as a sentence.
export function words(entry: LogEntry, t: Texts): string {
  const [first, ...others] = groups(entry)
  const hidden = entry.hidden ?? 0
  const rest = others.reduce((n, group) => n + group.length, 0)
  let did = action(entry, t, first)
  if (did === undefined) {
    if (!first) return hidden ? t('audit.did.hidden', { who: whoOf(t, entry), n: hidden }) : other(entry, t)
    did = changes(entry, first, t)
    if (rest) did = t('audit.and.more', { did, n: rest })
  }
  return hidden ? t('audit.and.hidden', { did, n: hidden }) : did
}

function other(entry: LogEntry, t: Texts): string {
  const { title } = entry.operation
  return t('audit.did.other', { who: whoOf(t, entry), title: some(t, `given.${title}`) ?? title })
}

// groups are the changes by collection and operation, first those that the operation is about.
export function groups({ changes, operation }: LogEntry): LogChange[][] {
  const main = changes.filter((change) => !companions.includes(change.collection))
  const companion = companions.find((collection) => changes.some((change) => change.collection === collection))
  const found = new Map<string, LogChange[]>()
  for (const change of main.length ? main : changes.filter((change) => change.collection === companion)) {
    const key = `${change.operation} ${change.collection}`
    found.set(key, [...(found.get(key) ?? []), change])
  }
  const meant = operations[operation.method ?? '']
  return [...found.values()].sort((a, b) => Number(b[0]?.operation === meant) - Number(a[0]?.operation === meant))
}

// action is what an entry with an action says; undefined if the entry only has changes.
function action(entry: LogEntry, t: Texts, first?: LogChange[]): string | undefined {
  const { action, actor, details, operation } = entry
  const by = { who: whoOf(t, entry) }
  const route = [operation.method, operation.route].filter(Boolean).join(' ') || operation.title
  const number = (collection: string, id = 'id') => t('audit.one.number', { what: what(t, collection), id: detail(details, id) })
  const hook = () => (first?.[0]?.collection === 'webhook' ? thing(t, first[0]) : number('webhook', 'webhook'))
  const person = /\/user\//.test(operation.route ?? '') || detail(details, 'realm') === 'app' ? 'app_user' : 'user'
  switch (action) {
    case undefined:
      return actor.kind === 'cli' && !first ? t('audit.did.command', { ...by, title: operation.title }) : undefined
    case 'start': {
      const version = detail(details, 'version')
      return version ? t('audit.did.start.version', { version }) : t('audit.did.start')
    }
    case 'denied':
      return denied(entry, t, route)
    case 'undo': {
      const [kind, id] = detail(details, 'by').split(':')
      const at = (name: string) => dayjs(detail(details, name)).format('YYYY-MM-DD HH:mm')
      const all = { ...by, of: who(t, { kind: kind as LogEntry['actor']['kind'], id: Number(id) }), since: at('since'), until: at('until') }
      const did = kind
        ? t(detail(details, 'until') ? 'audit.did.undo.until' : 'audit.did.undo.all', all)
        : t('audit.did.undo', { ...by, seq: detail(details, 'seq') })
      return first ? t('audit.did.how', { did, how: things(first, t) }) : did
    }
    case 'export': {
      const list = some(t, `menu${operation.route?.replace('-export', '').replaceAll('/', '.')}`)
      return list ? t('audit.did.export.list', { ...by, list }) : t('audit.did.export', by)
    }
    case 'export_person':
    case 'erase':
      return t(`audit.did.${action}`, { ...by, things: number(person) })
    case 'create_link': {
      const purpose = detail(details, 'purpose')
      // It came along with a new user, or is the last of several.
      if (purpose && first && (first[0]?.collection !== 'link' || first.length > 1)) return undefined
      const did = purpose && some(t, `audit.did.create_link.${purpose}`, { ...by, things: number(detail(details, 'kind')) })
      return did || t('audit.did.create_link', { ...by, things: number('file') })
    }
    case 'act_as':
    case 'act_as_ended': {
      const as = entry.as ?? { kind: 'user', id: Number(detail(details, 'user_id')) || undefined }
      const writes = detail(details, 'writes') === '1'
      return t(writes ? 'audit.did.act_as.writes' : `audit.did.${action}`, { who: who(t, actor), as: who(t, as) })
    }
    case 'backup':
    case 'reauth':
    case 'restore':
      return t(`audit.did.${action}`, by)
    case 'webhook_replay': {
      const [from, until] = [detail(details, 'from'), detail(details, 'until')]
      return t(until === from ? 'audit.did.webhook_replay' : 'audit.did.webhook_replay.range', { ...by, from, until, things: hook() })
    }
    case 'webhook_resume':
      return t(detail(details, 'latest') === '1' ? 'audit.did.webhook_resume.latest' : 'audit.did.webhook_resume', { ...by, things: hook() })
    case 'webhook_secret':
    case 'webhook_skip':
      return t(`audit.did.${action}`, { ...by, event: detail(details, 'event'), things: hook() })
    case 'unlock':
      return t('audit.did.unlock', { ...by, things: number(detail(details, 'kind')) })
    case 'rotate_key':
      return t('audit.did.rotate_key', { ...by, things: number('key', 'key') })
    case 'read_secrets': {
      const count = Number(detail(details, 'count')) || 0
      const read = { ...by, group: detail(details, 'group') }
      return count > 1 ? t('audit.did.read_secrets.many', { ...read, n: count }) : t('audit.did.read_secrets', read)
    }
    case 'drop_entries':
      return t('audit.did.drop_entries', { first: detail(details, 'first'), last: detail(details, 'last') })
    default:
      return other(entry, t)
  }
}

function denied({ actor, as, details }: LogEntry, t: Texts, route: string): string {
  const n = Number(detail(details, 'count')) || 1
  const network = detail(details, 'network')
  if (network) return t('audit.did.failed', { n, network })
  return ['user', 'app_user', 'key'].includes(actor.kind)
    ? t('audit.did.denied.who', { n, who: whoOf(t, { actor, as }), route })
    : t('audit.did.denied', { n, route })
}

// things names the records of a group: the role Editor, 3 dictionary items of Order state.
function things(group: LogChange[], t: Texts): string {
  const [first] = group
  if (!first) return ''
  const n = group.length
  const named = n === 1 ? thing(t, first) : (some(t, `audit.many.${first.collection}`, { n }) ?? t('audit.many.record', { n }))
  const parent = parentOf(group)
  return parent ? t('audit.of', { things: named, parent }) : named
}

// parentOf is the name of the record that all records of a group belong to.
function parentOf(group: LogChange[]): string | undefined {
  const names = new Set(
    group.map(({ fields }) => {
      const field = fields.find(({ name, labels }) => parents.includes(name) && labels)
      return field?.labels?.[String(field.new ?? field.old)]
    }),
  )
  return names.size === 1 ? [...names][0] : undefined
}

// changes is what an entry did to its first group of records.
function changes(entry: LogEntry, group: LogChange[], t: Texts): string {
  const by = { who: whoOf(t, entry) }
  const [change] = group
  if (!change) return ''
  const { collection, operation, fields } = change
  if (collection === 'session') {
    if (operation === 'create') return t('audit.did.sign_in', by)
    if (entry.operation.route?.endsWith('/logout')) return t('audit.did.sign_out', by)
    const sessions = group.length === 1 ? t('audit.did.end.one') : t('audit.did.end.many', { n: group.length })
    const parent = parentOf(group)
    return t('audit.did.end', { ...by, things: parent ? t('audit.of', { things: sessions, parent }) : sessions })
  }
  const password = passwordOf(entry, change)
  if (password === 'own') return t('audit.did.password.own', by)
  const of = { ...by, things: things(group, t) }
  if (password) return t('audit.did.password', of)
  if (collection === 'file' && operation === 'create') return t('audit.did.upload', of)
  if (operation !== 'update') return t(`audit.did.${operation}`, of)
  const only = fields.length === 1 && group.every((one) => one.fields.length === 1 && one.fields[0]?.name === fields[0]?.name) ? fields[0] : undefined
  if (only && pageButtons(collection, only)) return t(only.new === 1 ? 'audit.did.enable' : 'audit.did.disable', of)
  if (only?.name === 'trashed_at') return t(only.new == null ? 'audit.did.untrash' : 'audit.did.trash', of)
  const did = t('audit.did.update', of)
  const how = group.length === 1 ? howOf(change, t) : ''
  return how ? t('audit.did.how', { did, how }) : did
}

const pageButtons = (collection: string, { name, new: to }: LogField) =>
  (name === 'switch' || (name === 'status' && collection !== 'dict_item')) && (to === 0 || to === 1)

// passwordOf reports whether an entry sets a password, or the actor's own.
function passwordOf({ actor, changes }: LogEntry, { collection, operation, id, fields }: LogChange): 'own' | 'other' | undefined {
  if (operation !== 'update' || !changes.some((one) => one.collection === 'password_hash')) return undefined
  if (collection === 'password_hash') return undefined
  if (!['user', 'app_user'].includes(collection) || fields.some(({ name }) => name !== 'must_change_password')) return undefined
  return actor.kind === collection && actor.id === id ? 'own' : 'other'
}

const low = (text: string): string => (/^.[\p{Lu}]/u.test(text) ? text : text.slice(0, 1).toLowerCase() + text.slice(1))

// howOf names the fields that changed: +2 −1 permissions; name from A to B; email, phone.
function howOf({ collection, fields }: LogChange, t: Texts): string {
  const [only] = fields
  const named = fields.map((field) => fieldOf(collection, field, t))
  if (fields.length === 1 && only && only.added === undefined && only.removed === undefined) {
    const [old, now] = [short(only, only.old), short(only, only.new)]
    if (old && now) return t('audit.how.value', { field: low(label(t, collection, only.name)), old, new: now })
  }
  if (named.length <= mostFields) return named.join(t('list.separator'))
  return t('audit.how.more', { fields: named.slice(0, mostFields - 1).join(t('list.separator')), n: named.length - mostFields + 1 })
}

function fieldOf(collection: string, { name, added_count: added = 0, removed_count: removed = 0 }: LogField, t: Texts): string {
  const field = low(label(t, collection, name))
  const counts = [added && `+${added}`, removed && `−${removed}`].filter(Boolean).join(' ')
  return counts ? t('audit.how.counts', { counts, field }) : field
}

// short is a value that fits a sentence; '' for others.
function short({ labels, truncated, name }: LogField, value: unknown): string {
  const text =
    labels?.[String(value)] ?? (typeof value === 'string' ? value : typeof value === 'number' && !/_ids?$|^(sex|type)$/.test(name) ? String(value) : '')
  return truncated || text.length > mostText || text.includes('\n') || /^(data_scope|icon|.*_at)$/.test(name) || (name === 'values' && /^[[{]/.test(text))
    ? ''
    : text
}
