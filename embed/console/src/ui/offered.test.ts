import { expect, test, vi } from 'vitest'

vi.stubGlobal('localStorage', { getItem: () => null })
vi.stubGlobal('navigator', { language: 'en', onLine: true })
const { loadTexts } = await import('../i18n')
await loadTexts('frame')
const { named, optionsOf, treeOf } = await import('./offered')

const sales = { id: 1, name: 'Sales', status: 1 }
const old = { id: 2, name: 'Old', status: 0 }

test('disabled records are offered only where they are chosen already, with a mark', () => {
  expect(optionsOf([sales, old])).toEqual([{ value: 1, label: 'Sales' }])
  expect(optionsOf([sales, old], [old])).toEqual([
    { value: 1, label: 'Sales' },
    { value: 2, label: 'Old (disabled)' },
  ])
})

test('records that are chosen, but not among the choices keep their names', () => {
  expect(optionsOf(undefined, named([7, 8], ['Chief']))).toEqual([
    { value: 7, label: 'Chief' },
    { value: 8, label: '#8' },
  ])
})

test('a disabled branch of a tree is left out, unless it has an enabled or a chosen record', () => {
  const south = { id: 3, name: 'South', status: 1 }
  expect(treeOf([sales, { ...old, children: [{ ...old, id: 4 }] }])).toEqual([{ id: 1, name: 'Sales', disabled: false }])
  expect(treeOf([{ ...old, children: [south] }])).toEqual([
    { id: 2, name: 'Old (disabled)', disabled: true, children: [{ id: 3, name: 'South', disabled: false }] },
  ])
  expect(treeOf([sales, old], [old])).toEqual([
    { id: 1, name: 'Sales', disabled: false },
    { id: 2, name: 'Old (disabled)', disabled: false },
  ])
  expect(treeOf([sales], [{ id: 9, name: 'Elsewhere' }])).toEqual([
    { id: 9, name: 'Elsewhere' },
    { id: 1, name: 'Sales', disabled: false },
  ])
})
