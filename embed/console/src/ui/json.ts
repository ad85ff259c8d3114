// valid reports whether a text is JSON.
export function valid(text: string): boolean {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}

// layOut indents JSON. It changes only whitespace, so that long numbers keep all digits.
export function layOut(text: string): string {
  let depth = 0
  const tokens = text.match(/"(?:\\.|[^"\\])*"|[{}[\],:]|[^\s{}[\],:"]+/g) ?? []
  const line = () => `\n${'  '.repeat(depth)}`
  return tokens
    .map((token, i) => {
      if (token === '{' || token === '[') {
        const empty = tokens[i + 1] === '}' || tokens[i + 1] === ']'
        depth++
        return empty ? token : token + line()
      }
      if (token === '}' || token === ']') {
        depth--
        return tokens[i - 1] === '{' || tokens[i - 1] === '[' ? token : line() + token
      }
      if (token === ',') return token + line()
      return token === ':' ? ': ' : token
    })
    .join('')
}
