import type { Change } from '../../api/types'

// maxText is the maximum size of a file in bytes.
export const maxText = 512 << 10

// Fault is what is wrong at a place of the file.
export type Fault = { line: number; place: string; text: string } // line is 0 if it is unknown

// faultsIn returns the faults of a response, by lines. Their names are like "line 7 roles.A".
export function faultsIn(errors: Record<string, string>): Fault[] {
  return Object.entries(errors)
    .map(([name, text]) => {
      const [, line, place] = /^line (\d+)(?:, column \d+)?(?: (.+))?$/.exec(name) ?? []
      return { line: Number(line ?? 0), place: line ? (place ?? '') : name, text }
    })
    .sort((a, b) => a.line - b.line || (a.place < b.place ? -1 : 1))
}

// rangeOf returns where a line begins and ends in a text.
export function rangeOf(text: string, line: number): [start: number, end: number] {
  const lines = text.split('\n')
  const start = lines.slice(0, line - 1).join('\n').length + (line > 1 ? 1 : 0)
  return [start, start + (lines[line - 1]?.length ?? 0)]
}

// numbers are the numbers of the lines of a text, divided at those that are marked.
export function numbers(text: string, marked: Set<number>): { text: string; marked: boolean }[] {
  const parts: { text: string; marked: boolean }[] = []
  for (let line = 1, n = text.split('\n').length; line <= n; line++) {
    const last = parts.at(-1)
    if (last && !last.marked && !marked.has(line)) last.text += `${line}\n`
    else parts.push({ text: `${line}\n`, marked: marked.has(line) })
  }
  return parts
}

// nameOf is the name that a file with a path or name has as an owner of objects, as on the command line.
export const nameOf = (file: string): string => file.replace(/\.toml$/, '')

const longest = 300 // characters

// shown is a value of a field on one line; '' for none.
export function shown(value: unknown): string {
  if (value === undefined || value === null) return ''
  const text = JSON.stringify(value)
  return text.length > longest ? `${text.slice(0, longest)}…` : text
}

// decode returns the text of a file; undefined if it is none.
export function decode(bytes: ArrayBuffer): string | undefined {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch {
    return undefined
  }
}

// marks are those of the command line.
export const marks: Record<Change['operation'], string> = { create: '+', update: '~', delete: '-' }
