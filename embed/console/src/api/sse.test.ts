import fc from 'fast-check'
import { expect, test } from 'vitest'
import { type Message, parser } from './sse'

function parsed(...pieces: string[]): Message[] {
  const messages: Message[] = []
  const take = parser((message) => messages.push(message))
  pieces.forEach(take)
  return messages
}

test.each([
  ['an event', 'id: a-1\nevent: user.updated\ndata: {"x":1}\n\n', [{ id: 'a-1', type: 'user.updated', data: '{"x":1}' }]],
  ['an event without a position', 'event: access.changed\ndata: {}\n\n', [{ id: '', type: 'access.changed', data: '{}' }]],
  ['a heartbeat', ': heartbeat\nid: a-2\n\n', [{ id: 'a-2', type: '', data: '' }]],
  ['lines that end with CRLF', 'id: 1\r\ndata: x\r\n\r\n', [{ id: '1', type: '', data: 'x' }]],
  ['data of several lines, without spaces', 'data:x\ndata: y\n\n', [{ id: '', type: '', data: 'x\ny' }]],
  ['only comments and unknown fields', ': hello\n\nretry: 2000\n\nunknown\n\n', []],
  ['an event that is not complete', 'data: x\n', []],
  [
    'fields that do not carry over',
    'id: 1\nevent: a\ndata: x\n\ndata: y\n\n',
    [
      { id: '1', type: 'a', data: 'x' },
      { id: '', type: '', data: 'y' },
    ],
  ],
])('%s', (_, text, want) => {
  expect(parsed(text)).toEqual(want)
})

test('pieces of any size give the same messages', () => {
  const text = 'retry: 2000\nid: g-1\nevent: open\ndata: {"id":"g-1"}\n\n: heartbeat\nid: g-2\r\n\r\ndata: ü\n\n'
  fc.assert(
    fc.property(fc.array(fc.nat(text.length)), (cuts) => {
      const at = [0, ...cuts.sort((a, b) => a - b), text.length]
      expect(parsed(...at.slice(1).map((end, i) => text.slice(at[i], end)))).toEqual(parsed(text))
    }),
  )
})
