import { folded } from '../../ui/fold'

// Line is a person to invite. Without a username, none can be made from the text.
export type Line = { text: string; nickname: string; email: string; username: string }

export const mostLines = 200

const part = /\s*((?:"[^"]*"|[^,;\n"<]|<[^>\n]*>)+)/g
const withAddress = /^"?([^"<]*?)"?\s*<\s*([^<>\s]+@[^<>\s]+)\s*>$/
const address = /^[^\s@<>"]+@[^\s@<>"]+$/

// usernameOf makes a username from a text: 3 to 32 letters, digits and . _ -; "" if there are too few.
const usernameOf = (text: string): string => {
  const made = folded(text)
    .replace(/[\s']+/g, '.')
    .replace(/[^a-z0-9._-]/g, '')
    .slice(0, 32)
    .replace(/^[._-]+|[._-]+$/g, '')
  return made.length < 3 ? '' : made
}

// linesOf returns the people in a pasted text: addresses, names, or both as Ann Smith <ann@example.org>,
// separated by lines, commas or semicolons. The same address or name counts once.
export function linesOf(text: string): Line[] {
  const all = new Map<string, Line>()
  for (const [, found = ''] of text.matchAll(part)) {
    const one = found.trim()
    if (!one) continue
    const [, named = '', to = ''] = withAddress.exec(one) ?? []
    const email = to || (address.test(one) ? one : '')
    const nickname = (to ? named : email ? '' : one.replace(/^"|"$/g, '')).trim()
    const local = email.split('@', 1)[0]!.split('+', 1)[0]!
    const line = { text: one, nickname: nickname.slice(0, 64), email, username: usernameOf(email ? local : nickname) || usernameOf(email.replace('@', '.')) }
    const key = email.toLowerCase() || folded(nickname)
    if (!all.has(key)) all.set(key, line)
  }
  return [...all.values()]
}

// otherName is the next username to try where one is used by another person.
export const otherName = (username: string, n: number): string => `${username.slice(0, 28)}${n}`
