import { expect, test } from 'vitest'
import { full, late, mark } from './state'

test('a node is late from the number of entries that health reports', () => {
  expect(late({ behind: 0 })).toBe(false)
  expect(late({ behind: 999 })).toBe(false)
  expect(late({ behind: 1000 })).toBe(true)
})

test('a member is full from 80 % of its quota, if it says one', () => {
  expect(full({ bytes: 79, quota_bytes: 100 })).toBe(false)
  expect(full({ bytes: 80, quota_bytes: 100 })).toBe(true)
  expect(full({ bytes: 80, quota_bytes: 0 })).toBe(false)
})

test('the configuration of a node whose report is unreadable is unknown', () => {
  expect(mark({ differs: [], reported_at: '2027-01-02T03:04:05Z' })).toBe('equal')
  expect(mark({ differs: ['server.public_url'], reported_at: '2027-01-02T03:04:05Z' })).toBe('differs')
  expect(mark({ differs: [], reported_at: null })).toBe('unknown')
})
