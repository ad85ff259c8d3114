import fc from 'fast-check'
import { expect, test } from 'vitest'
import { recall, remember } from './answers'

test('the last 50 answers are remembered, each by its question', () => {
  fc.assert(
    fc.property(fc.array(fc.tuple(fc.integer({ min: 0, max: 80 }).map(String), fc.option(fc.nat(), { nil: undefined })), { maxLength: 300 }), (all) => {
      for (let i = 0; i <= 80; i++) remember(String(i), undefined)
      let expected = new Map<string, number>()
      for (const [question, answer] of all) {
        remember(question, answer)
        expected.delete(question)
        if (answer !== undefined) expected.set(question, answer)
        expected = new Map([...expected].slice(-50))
      }
      for (let i = 0; i <= 80; i++) expect(recall(String(i))).toBe(expected.get(String(i)))
    }),
  )
})
