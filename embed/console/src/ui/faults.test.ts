import fc from 'fast-check'
import { beforeAll, expect, test, vi } from 'vitest'
import { Failure, failureIn, hooks, show } from '../api/request'
import { split } from './fault-places'
import type * as Words from './words'

let words: typeof Words.words
let labelled: typeof Words.labelled
let faultText: typeof Words.faultText

beforeAll(async () => {
  vi.stubGlobal('localStorage', { getItem: () => null })
  vi.stubGlobal('navigator', { language: 'en', onLine: true })
  const own = await import('./words')
  words = own.words
  labelled = own.labelled
  faultText = own.faultText
  await (await import('../i18n')).loadTexts('frame')
})

const faults = fc.dictionary(fc.string(), fc.string())

test('every fault is shown once: at its field, or above the form', () => {
  fc.assert(
    fc.property(faults, fc.func(fc.boolean()), (errors, decides) => {
      const fields = new Set(Object.keys(errors).filter((name) => decides(name)))
      const { here, elsewhere } = split(errors, (name) => fields.has(name))
      expect(here.length + elsewhere.length).toBe(Object.keys(errors).length)
      for (const [name, fault] of here) expect([fields.has(name), errors[name]]).toEqual([true, fault])
      for (const [name, fault] of elsewhere) expect([fields.has(name), errors[name]]).toEqual([false, fault])
    }),
  )
})

test('a failure keeps what the server said', () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 400, max: 599 }),
      fc.string({ minLength: 1 }),
      fc.string(),
      faults,
      fc.string(),
      (status, errorCode, msg, errors, requestId) => {
        const failure = failureIn(status, JSON.stringify({ errorCode, msg, errors, requestId, showType: show.warning, success: false, data: null }))
        expect({ ...failure, message: failure.message }).toMatchObject({ status, code: errorCode, message: msg, requestId, showType: show.warning })
        expect(failure.errors).toEqual(JSON.parse(JSON.stringify(errors)))
      },
    ),
  )
})

test('an answer that is no envelope says that the server cannot be reached', () => {
  fc.assert(
    fc.property(fc.constantFrom('', '<html>Bad gateway</html>', '{', 'null'), fc.integer({ min: 400, max: 599 }), (text, status) => {
      expect(failureIn(status, text)).toMatchObject({ status, code: 'unreachable', errors: {} })
    }),
  )
})

test('every failure has words, and those of an internal one name the request', () => {
  fc.assert(
    fc.property(fc.string(), fc.string(), (code, message) => {
      expect(words(new Failure(500, code, message, show.error))).not.toBe('')
    }),
  )
  expect(words(new Failure(500, 'internal', 'secret detail', show.error, {}, 'req-7'))).toMatch(/req-7/)
  expect(words(new Failure(500, 'internal', 'secret detail', show.error, {}, 'req-7'))).not.toMatch(/secret/)
  expect(words(new Failure(409, 'in_use', 'used by 2 roles', show.error))).toBe('used by 2 roles')
})

test('a message names no field as programs do', () => {
  const faults = { email: 'is taken', 'props[0].name': 'is required', 'line 7 role_ids': 'not found', sex: 'a fourth' }
  expect(words(new Failure(422, 'invalid', 'email: is taken; 3 more fields are invalid', show.warning, faults))).toBe(
    'Email: is taken · is required · Line 7, Roles: not found',
  )
  expect(labelled(['line 7 nothing', 'is bad'])).toBe('Line 7, nothing: is bad')
  fc.assert(fc.property(fc.string(), fc.string(), (name, fault) => labelled([name, fault]).endsWith(fault)))
})

test('the console has the last word about a fault', () => {
  expect(faultText('must be 3 to 32 characters', { code: 'length', params: { min: 3, max: 32 } })).toBe('Use 3 to 32 characters')
  expect(faultText('is required', { code: 'required' })).toBe('Required')
  expect(faultText('is new', { code: 'constructor' })).toBe('is new')
  expect(faultText('is old')).toBe('is old')
  const before = hooks.fault
  hooks.fault = faultText
  const envelope = {
    errorCode: 'invalid',
    msg: 'm',
    showType: 1,
    errors: { a: 'is required', b: 'else' },
    details: { a: { code: 'required' }, b: { code: 'x' } },
  }
  expect(failureIn(422, JSON.stringify(envelope)).errors).toEqual({ a: 'Required', b: 'else' })
  hooks.fault = before
})
