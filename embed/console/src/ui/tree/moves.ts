import { between } from '../order'
import { type Branch, childrenOf, placesOf } from './model'

// A node's position is stored in two fields: its parent and a sort number among siblings.

export type Ordered = Branch & { sort: number }

export type Write = { id: number; parent_id?: number; sort?: number }

// moveOf returns the writes that move a node below a parent (0 for the top level) to an
// index among its other children; none if it is already there.
export function moveOf<T extends Ordered>(tops: T[], id: number, parent: number, index: number): Write[] {
  const places = placesOf(tops)
  const { node, parent: old, position } = places.get(id)!
  const siblings = parent ? childrenOf(places.get(parent)!.node) : tops
  const others = siblings.filter((s) => s.id !== id)
  const stays = (old?.id ?? 0) === parent
  if (stays && position - 1 === index) return []
  const writes: Write[] = between(others.slice(0, index), node, others.slice(index)).filter((w) => w.sort !== places.get(w.id)!.node.sort)
  if (stays) return writes
  const own = writes.find((w) => w.id === id)
  return [{ ...own, id, parent_id: parent }, ...writes.filter((w) => w.id !== id)]
}

// moved returns the tree after writes. Siblings are ordered by number, then by ID, as on
// the server.
export function moved<T extends Ordered>(tops: T[], writes: Write[]): T[] {
  const places = placesOf(tops)
  const parentOf = (id: number) => places.get(id)!.parent?.id ?? 0
  const changed = new Map(writes.map((w) => [w.id, w]))
  const concerned = new Set(writes.flatMap((w) => [parentOf(w.id), w.parent_id ?? parentOf(w.id)]))
  const arranged = (nodes: T[], parent: number): T[] => {
    let list = nodes
    if (concerned.has(parent)) {
      const come = writes.filter((w) => w.parent_id === parent && parentOf(w.id) !== parent).map((w) => places.get(w.id)!.node)
      list = [...nodes.filter((n) => (changed.get(n.id)?.parent_id ?? parent) === parent), ...come]
        .map((n) => (changed.has(n.id) ? { ...n, ...changed.get(n.id) } : n))
        .sort((a, b) => a.sort - b.sort || a.id - b.id)
    }
    return list.map((n) => {
      const children = arranged(childrenOf(n), n.id)
      if (children.length === (n.children?.length ?? 0) && children.every((c, i) => c === n.children![i])) return n
      const { children: _, ...bare } = n
      return (children.length ? { ...bare, children } : bare) as T
    })
  }
  return arranged(tops, 0)
}
