import { type Branch, childrenOf, placesOf } from './model'

// Where nodes lie is written in two fields: whom they lie below, and a number that
// orders them among their siblings.

export type Ordered = Branch & { sort: number }

export type Write = { id: number; parent_id?: number; sort?: number }

const [step, bound] = [10, 1_000_000] // the interface takes numbers from -bound to bound

// push numbers a node beside a neighbour, and those beyond it in turn, until one
// is far enough already.
function push<T extends Ordered>(neighbour: T | undefined, node: T, beyond: T[], by: number): Write[] {
  if (!neighbour) return []
  const writes: Write[] = []
  let at = neighbour.sort
  for (const n of [node, ...beyond]) {
    if (n !== node && (by > 0 ? n.sort > at : n.sort < at)) break
    at += by
    if (Math.abs(at) > bound) return []
    writes.push({ id: n.id, sort: at })
  }
  return writes
}

// numbers are the writes that put a node between those before and after it: its own
// number alone where there is room, else as few of its neighbours as possible.
function numbers<T extends Ordered>(before: T[], node: T, after: T[]): Write[] {
  const [previous, next] = [before.at(-1), after[0]]
  if (!previous && !next) return []
  if (previous && next && next.sort - previous.sort > 1) return [{ id: node.id, sort: Math.floor((previous.sort + next.sort) / 2) }]
  const ways = [push(previous, node, after, step), push(next, node, before.toReversed(), -step)].filter((way) => way.length > 0)
  const all = [...before, node, ...after].map(({ id }, i) => ({ id, sort: (i + 1) * step }))
  return ways.sort((a, b) => a.length - b.length)[0] ?? all
}

// moveOf is what must be written for a node to lie below a parent (0 at the top) as
// the one at an index among the others there. Nothing where it lies there already.
export function moveOf<T extends Ordered>(tops: T[], id: number, parent: number, index: number): Write[] {
  const places = placesOf(tops)
  const { node, parent: old, position } = places.get(id)!
  const siblings = parent ? childrenOf(places.get(parent)!.node) : tops
  const others = siblings.filter((s) => s.id !== id)
  const stays = (old?.id ?? 0) === parent
  if (stays && position - 1 === index) return []
  const writes = numbers(others.slice(0, index), node, others.slice(index)).filter((w) => w.sort !== places.get(w.id)!.node.sort)
  if (stays) return writes
  const own = writes.find((w) => w.id === id)
  return [{ ...own, id, parent_id: parent }, ...writes.filter((w) => w.id !== id)]
}

// moved is the tree once writes have been made. Siblings go by number, then by id,
// as the server has them.
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
