import { beforeAll, expect, test, vi } from 'vitest'
import type { Texts } from '../../ui/log/words'

let meant: typeof import('./meant').meant
const texts: Record<string, Texts> = {}

beforeAll(async () => {
  for (const language of ['en', 'zh']) {
    vi.resetModules()
    vi.stubGlobal('localStorage', { getItem: () => null })
    vi.stubGlobal('navigator', { language, onLine: true })
    const i18n = await import('../../i18n')
    await i18n.loadTexts('frame', 'audit')
    texts[language] = i18n.t
  }
  meant = (await import('./meant')).meant
})

test.each([
  ['keywordSearch=settings', 'en', '', { collection: 'setting' }],
  ['keywordSearch=Setting+VAT+rate', 'en', 'vat rate', { collection: 'setting' }],
  ['keywordSearch=deleted+dictionaries', 'en', '', { collection: 'dict', change: 'delete' }],
  ['keywordSearch=dictionary+item', 'en', '', { collection: 'dict_item' }],
  ['keywordSearch=ann+unlocked', 'en', 'ann', { action: 'unlock' }],
  ['keywordSearch=filename.txt', 'en', 'filename.txt', {}],
  ['keywordSearch=Ann+M', 'en', 'Ann M', {}],
  ['keywordSearch=%22role%22', 'en', 'role', {}],
  ['keywordSearch=role&collection=user', 'en', 'role', {}],
  ['keywordSearch=设置项+税率', 'zh', '税率', { collection: 'setting' }],
  ['', 'en', '', {}],
])('%s', (search, language, rest, filters) => {
  const got = meant(new URLSearchParams(search), texts[language]!)
  expect(got.rest).toBe(rest)
  expect(got.filters).toEqual(filters)
})
