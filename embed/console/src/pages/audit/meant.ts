import { type Texts, what } from '../../ui/log/words'

export const collections = [
  'user',
  'app_user',
  'role',
  'app_role',
  'app_permission',
  'permission',
  'dept',
  'setting',
  'setting_group',
  'dict',
  'dict_item',
  'file',
  'file_group',
  'webhook',
  'key',
  'custom_field',
  'provider',
  'identity',
  'session',
  'view',
]
export const changes = ['create', 'update', 'delete'] as const
export const actions = [
  'undo',
  'denied',
  'export',
  'export_person',
  'create_link',
  'erase',
  'webhook_replay',
  'webhook_resume',
  'webhook_secret',
  'webhook_skip',
  'rotate_key',
  'unlock',
  'read_secrets',
  'reauth',
  'act_as',
  'act_as_ended',
  'backup',
  'restore',
  'start',
  'drop_entries',
] as const

// plain is enough to compare words of the console, without the tables of other scripts.
const plain = (text: string) => text.toLowerCase().replace(/\s+/g, ' ').trim()

// named are actions whose words are those of names, too.
const named = ['backup', 'start']

type Meant = {
  rest: string // what is searched for
  words: string[] // those that are filters
  filters: { collection?: string; change?: string; action?: string }
}

// meant takes words of a search that the list shows, of kinds of records and of actions, as filters, unless such a
// filter is set or the search has quotation marks: names do not have these words.
export function meant(params: URLSearchParams, t: Texts): Meant {
  const text = params.get('keywordSearch') ?? ''
  const found: Meant = { rest: text.replaceAll('"', ''), words: [], filters: {} }
  if (text.includes('"') || !text) return found
  let rest = ` ${plain(text)} `
  const take = (all: readonly { name: keyof Meant['filters']; value: string; word: string }[]) => {
    const of = (word: string) => [word, `${word}s`, word.replace(/y$/, 'ies')].map((form) => ` ${form} `)
    const hits = all.flatMap(({ word, ...to }) => of(plain(word)).flatMap((form) => (rest.includes(form) ? [{ ...to, form }] : [])))
    const hit = hits.sort((a, b) => b.form.length - a.form.length)[0]
    if (!hit) return
    rest = rest.replace(hit.form, ' ')
    found.words.push(hit.form.trim())
    found.filters[hit.name] = hit.value
  }
  if (!params.has('collection')) take(collections.map((value) => ({ name: 'collection', value, word: what(t, value) })))
  if (!params.has('change') && !params.has('action')) {
    take([
      ...changes.map((value) => ({ name: 'change', value, word: t(`audit.kind.${value}`) }) as const),
      ...actions.filter((value) => !named.includes(value)).map((value) => ({ name: 'action', value, word: t(`audit.kind.${value}`) }) as const),
    ])
  }
  if (found.words.length) found.rest = rest.trim()
  return found
}
