import { expect, test } from 'vitest'
import { found } from './found'

const topics = [
  { title: 'Users', html: '<h1 id="users">Users</h1><p>A <code>role</code> &amp; more</p>' },
  { title: 'Files', html: '<h1 id="hidden">Files</h1>' },
]

test('a topic has every word, in any case', () => {
  expect(found(topics, 'ROLE a')).toEqual([topics[0]])
  expect(found(topics, 'role files')).toEqual([])
})
test('marks are no text', () => {
  expect(found(topics, 'hidden')).toEqual([])
  expect(found(topics, 'h1')).toEqual([])
  expect(found(topics, '& more')).toEqual([topics[0]])
})
test('without words all topics are found', () => expect(found(topics, ' ')).toEqual(topics))
