import { expect, test } from 'vitest'
import { begin, isWriting, moment, writtenAt } from './changes'

test('an entry is ours once its change has ended', async () => {
  const end = begin()
  const asked = writtenAt('g-1')
  expect(isWriting()).toBe(true)
  const before = moment()
  end('g-1')
  expect(isWriting()).toBe(false)
  expect(await asked).toBeGreaterThan(before)
  expect(await writtenAt('g-1')).toBe(await asked)
  expect(await writtenAt('h-1')).toBeUndefined()
})

test('only changes that were under way are waited for', async () => {
  const ends = [begin(), begin()]
  const asked = writtenAt('g-2')
  const later = begin()
  ends[0]!('g-3')
  ends[1]!(null) // a change that was refused
  expect(await asked).toBeUndefined()
  expect(await writtenAt('g-3')).toBeDefined() // known, although another change is under way
  later(null)
})

test('the newest entries are remembered', async () => {
  for (let n = 1; n <= 300; n++) begin()(`many-${n}`)
  expect(await writtenAt('many-100')).toBeUndefined()
  expect(await writtenAt('many-101')).toBeDefined()
})
