import { beforeAll, expect, test } from 'vitest'
import { areas } from './languages'

// Voice control finds a button or link by the text on it: an accessible name that differs
// from the text must contain it.

const sources = import.meta.glob<string>('../**/*.tsx', { query: '?raw', import: 'default', eager: true })

const words: Record<string, Record<string, string>> = { en: {}, zh: {} }

beforeAll(async () => {
  for (const [path, load] of Object.entries(areas)) Object.assign(words[path.split('/')[1] ?? ''] ?? {}, ...Object.values(await load()))
})

// The opening tag of a control with a label, and the text in it; an icon may be within the tag.
const within = String.raw`(?:(?!<\/|\/>(?!\}\s+[\w-]+=)).)*?`
const control = new RegExp(String.raw`<(?:Link|Button|a|button)\b${within}aria-label=\{(t\([^<>]*?\))\}${within}>\s*\{(t\([^<]*?\))\}\s*<\/`, 'gs')
const action = /<Actions\b(?:(?!\/>).)*?label: (t\(.*?\)), onClick(?:(?!\/>).)*?called=\{(t\(.*?\))\}/gs

const keys = (call: string) => [...call.matchAll(/[(?:] ?'([\w.]+)'/g)].map(([, key]) => key ?? '') // one, or one of two

// pairs are the keys of labels and of the texts that they replace.
function pairs(source: string): string[][] {
  const calls = [
    ...[...source.matchAll(control)].map(([, label, text]) => [label, text]),
    ...[...source.matchAll(action)].map(([, text, label]) => [label, text]),
  ]
  return calls.flatMap(([label = '', text = '']) => keys(label).map((key, i) => [key, keys(text)[i] ?? '']))
}

test('the accessible name of a control contains its text', () => {
  const found = Object.values(sources).flatMap(pairs)
  expect(found.length).toBeGreaterThan(14)
  for (const [label = '', text = ''] of found) {
    for (const [language, of] of Object.entries(words)) {
      expect(of[label]?.toLowerCase(), `${language} ${label}`).toContain(of[text]?.toLowerCase())
    }
  }
})
