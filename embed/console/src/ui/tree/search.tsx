import { Typography } from 'antd'
import { useMemo } from 'react'
import { type Branch, matching, type Row, rowsOf } from './model'
import { has, placeOf } from '../fold'

// useRows returns the visible rows of a tree: the expanded ones, or during a search the
// matches with their parents.
export function useRows<T extends Branch>(tops: T[], open: Set<number>, search: string, texts: (node: T) => string[]): { rows: Row<T>[]; hits?: Set<number> } {
  // biome-ignore lint/correctness/useExhaustiveDependencies: texts always gives the same result
  return useMemo(() => {
    if (!search) return { rows: rowsOf(tops, (node) => open.has(node.id)) }
    // biome-ignore lint/nursery/useReactCompiler: texts always gives the same result
    const { hits, kept } = matching(tops, (node) => has(search, ...texts(node)))
    return { rows: rowsOf(tops, (node) => (node.children as T[]).some((child) => kept.has(child.id)), kept), hits }
  }, [tops, open, search]) // texts always gives the same result
}

// Marked highlights a search in a text.
export function Marked({ text, search }: { text: string; search: string }) {
  const place = search ? placeOf(search, text) : undefined
  if (!place) return <>{text}</>
  const [from, to] = place
  return (
    <>
      {text.slice(0, from)}
      <mark>{text.slice(from, to)}</mark>
      {text.slice(to)}
    </>
  )
}

// KeyTail is the key of a permission after its name.
export function KeyTail({ of, search }: { of: { key: string }; search: string }) {
  return (
    <Typography.Text type="secondary" className="tree-key" title={of.key}>
      <Marked text={of.key} search={search} />
    </Typography.Text>
  )
}
