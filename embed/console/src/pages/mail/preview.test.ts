import { expect, test } from 'vitest'
import { shownIn } from './preview'

test('styles are in a style element with the nonce, and links lead nowhere', () => {
  const html =
    '<html><head><style>p { margin: 0 }</style></head><body style="margin:0"><a href="https://x/y" style="color:red">style=&#34;x&#34;</a></body></html>'
  expect(shownIn(html, 'N')).toBe(
    '<html><head><style nonce="N">[data-style="0"]{margin:0}\n[data-style="1"]{color:red}</style><style nonce="N">p { margin: 0 }</style></head>' +
      '<body data-style="0"><a data-style="1">style=&#34;x&#34;</a></body></html>',
  )
})
