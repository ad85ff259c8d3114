import fc from 'fast-check'
import { expect, test, vi } from 'vitest'

// wordsIn loads the texts for a browser language.
async function wordsIn(language: string) {
  vi.resetModules()
  vi.stubGlobal('localStorage', { getItem: () => null })
  vi.stubGlobal('navigator', { language, onLine: true })
  const i18n = await import('.')
  await i18n.loadTexts('frame', 'people', 'actions')
  return i18n
}

test('a number has the word that goes with it', async () => {
  const { t } = await wordsIn('en-GB')
  fc.assert(
    fc.property(fc.nat(), (n) => {
      expect(t('people.batch.moved', { n })).toBe(`${n} ${n === 1 ? 'user' : 'users'} moved.`)
    }),
  )
  expect(t('people.batch.moved', { n: '1,234' })).toBe('1,234 users moved.')
})

test('a language is a folder, found by what the browser prefers, and English else', async () => {
  expect((await wordsIn('zh-TW')).t('sign_out')).toBe('退出登录')
  expect((await wordsIn('zh-TW')).language).toBe('zh')
  expect((await wordsIn('fr-CH')).language).toBe('en')
  const { languages } = await import('./languages')
  expect(Object.entries(languages).map(([code, { short }]) => [code, short])).toEqual([
    ['en', 'English'],
    ['zh', '中文'],
  ])
})

test('what is no key, and a value that is missing, stays as it is', async () => {
  const { t, maybe, given } = await wordsIn('en')
  expect(maybe('constructor')).toBeUndefined()
  expect(given('Made up')).toBe('Made up')
  expect(t('people.batch.moved')).toContain('{n}')
})

test('Chinese has a word for the configuration, and another for setup files', async () => {
  const { areas } = await import('./languages')
  const of: Record<string, Record<string, string>> = { en: {}, zh: {} }
  for (const [path, load] of Object.entries(areas)) Object.assign(of[path.split('/')[1] ?? ''] ?? {}, ...Object.values(await load()))
  const texts = Object.entries(of.zh ?? {}).map(([key, zh]) => ({ key, zh, en: of.en?.[key] ?? key }))
  expect(texts.length).toBeGreaterThan(2000)
  for (const { key, zh, en } of texts) {
    if (/\bconfiguration\b/i.test(en)) expect(zh, key).toContain('服务器配置')
    if (/\bsetups?\b(?! (key|steps))/i.test(en)) expect(zh, key).not.toContain('配置')
    expect(zh, key).not.toContain('配置文件')
  }
})
