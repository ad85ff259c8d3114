import { useMemo } from 'react'
import { type Branch, matching, type Row, rowsOf } from './model'

// has tells whether one of some texts has a search in it, as the interface's searches do.
export const has = (search: string, ...texts: string[]): boolean => texts.some((text) => text.toLowerCase().includes(search))

// useRows are the lines of a tree: those that are open, or, during a search, what it
// finds with all that lies above.
export function useRows<T extends Branch>(tops: T[], open: Set<number>, search: string, texts: (node: T) => string[]): { rows: Row<T>[]; hits?: Set<number> } {
  // biome-ignore lint/correctness/useExhaustiveDependencies: texts is the same question every time
  return useMemo(() => {
    if (!search) return { rows: rowsOf(tops, (node) => open.has(node.id)) }
    // biome-ignore lint/nursery/useReactCompiler: texts is the same question every time
    const { hits, kept } = matching(tops, (node) => has(search, ...texts(node)))
    return { rows: rowsOf(tops, (node) => (node.children as T[]).some((child) => kept.has(child.id)), kept), hits }
  }, [tops, open, search]) // texts is the same question every time
}

// Marked is a text with what was searched for in it marked.
export function Marked({ text, search }: { text: string; search: string }) {
  const at = search ? text.toLowerCase().indexOf(search) : -1
  if (at < 0) return <>{text}</>
  return (
    <>
      {text.slice(0, at)}
      <mark>{text.slice(at, at + search.length)}</mark>
      {text.slice(at + search.length)}
    </>
  )
}
