import fc from 'fast-check'
import { beforeEach, expect, test, vi } from 'vitest'
import type { Setting } from '../../api/types'
import { drop, keep, now, settle, stamp, write } from './drafts'

const page = new EventTarget()
vi.stubGlobal('window', page)

beforeEach(() => drop(now()))

const setting = (id: number, values: string, type: Setting['type'] = 'input', updated_at = '1'): Setting => ({ id, values, type, updated_at }) as Setting

// asksBeforeLeaving reports whether the browser would ask before leaving the page.
const asksBeforeLeaving = () => !page.dispatchEvent(new Event('beforeunload', { cancelable: true }))

const ids = fc.integer({ min: 1, max: 3 })
const values = fc.constantFrom('a', 'b', 'c')
const steps = fc.array(
  fc.oneof(
    fc.record({ act: fc.constant('write' as const), id: ids, value: fc.option(values, { nil: undefined }) }),
    fc.record({ act: fc.constant('store' as const), id: ids, value: values }), // someone else changes the setting
    fc.record({ act: fc.constant('keep' as const), id: ids, value: values }),
    fc.record({ act: fc.constant('settle' as const), id: ids, value: values }),
  ),
  { maxLength: 30 },
)

test('drafts are what was typed and differs from what is stored', () => {
  fc.assert(
    fc.property(steps, (all) => {
      drop(now())
      const stored = new Map([1, 2, 3].map((id) => [id, 'a']))
      const typed = new Map<number, { value: string; base: string }>()
      const of = (id: number) => setting(id, stored.get(id) ?? '')
      for (const { act, id, value } of all) {
        const draft = typed.get(id)
        if (act === 'store') stored.set(id, value)
        if (act === 'write') {
          write(of(id), value)
          if (value === undefined || value === stored.get(id)) typed.delete(id)
          else typed.set(id, { value, base: draft?.base ?? stamp(of(id)) })
        }
        if (act === 'keep') {
          keep(of(id))
          if (draft) typed.set(id, { ...draft, base: stamp(of(id)) })
        }
        if (act === 'settle') {
          settle([of(1), of(2)])
          for (const [key, { value }] of typed) if (key === 3 || stored.get(key) === value) typed.delete(key)
        }
        expect(new Map(now())).toEqual(typed)
        expect(asksBeforeLeaving()).toBe(false) // they are kept
      }
    }),
  )
})

test('a draft that was typed while it was saved stays', () => {
  write(setting(1, 'a'), 'b')
  write(setting(2, 'a'), 'b')
  const sent = now()
  write(setting(1, 'a'), 'c')
  drop(sent)
  expect([...now()]).toEqual([[1, { value: 'c', base: 'a' }]])
})

test('a secret is a draft whatever it is, and until it is changed elsewhere', () => {
  const secret = setting(1, '', 'secret', 'then')
  write(secret, '')
  settle([secret])
  expect(now().get(1)).toEqual({ value: '', base: 'then', secret: true })
  expect(asksBeforeLeaving()).toBe(true)
})
