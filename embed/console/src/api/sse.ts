// Server-Sent Events, as the HTML standard defines them; lines end with LF or CRLF.

// Message is one event. A message without data only has an ID: the position of a heartbeat.
export type Message = { id: string; type: string; data: string }

// parser returns a function that takes text in pieces of any size, and calls back with each
// message once it is complete.
export function parser(tell: (message: Message) => void): (text: string) => void {
  let rest = ''
  let now: Message = { id: '', type: '', data: '' }

  function line(text: string): void {
    if (!text) {
      if (now.id || now.data) tell(now)
      now = { id: '', type: '', data: '' }
      return
    }
    const colon = text.indexOf(':')
    const name = colon < 0 ? text : text.slice(0, colon)
    const value = colon < 0 ? '' : text.slice(text[colon + 1] === ' ' ? colon + 2 : colon + 1)
    if (name === 'id') now.id = value
    else if (name === 'event') now.type = value
    else if (name === 'data') now.data = now.data ? `${now.data}\n${value}` : value
  }

  return (text) => {
    const lines = (rest + text).split('\n')
    rest = lines.pop() ?? ''
    for (const one of lines) line(one.endsWith('\r') ? one.slice(0, -1) : one)
  }
}
