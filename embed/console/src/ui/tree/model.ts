// Trees as the interface answers them, and what the screen needs to know of them.

export type Branch = { id: number; parent_id: number; children?: Branch[] }

// Place is where a node lies: below whom, and as which of how many.
export type Place<T> = { node: T; parent?: T; level: number; position: number; size: number }

// Row is a node as a line on the screen.
export type Row<T> = Place<T> & { open: boolean; leaf: boolean }

// The types of the interface say that the children of a T are T's too.
export const childrenOf = <T extends Branch>(node: T): T[] => (node.children ?? []) as T[]

// placesOf is every node's place, by id, in the order of the screen.
export function placesOf<T extends Branch>(tops: T[]): Map<number, Place<T>> {
  const places = new Map<number, Place<T>>()
  const add = (nodes: T[], level: number, parent?: T) =>
    nodes.forEach((node, i) => {
      places.set(node.id, { node, parent, level, position: i + 1, size: nodes.length })
      add(childrenOf(node), level + 1, node)
    })
  add(tops, 1)
  return places
}

// rowsOf are the lines of a tree in which some nodes are open. Where only some
// nodes are kept, the others have no line.
export function rowsOf<T extends Branch>(tops: T[], open: (node: T) => boolean, kept?: Set<number>): Row<T>[] {
  const rows: Row<T>[] = []
  const add = (all: T[], level: number, parent?: T) => {
    const nodes = kept ? all.filter((node) => kept.has(node.id)) : all
    nodes.forEach((node, i) => {
      const leaf = !node.children?.length
      const isOpen = !leaf && open(node)
      rows.push({ node, parent, level, position: i + 1, size: nodes.length, open: isOpen, leaf })
      if (isOpen) add(childrenOf(node), level + 1, node)
    })
  }
  add(tops, 1)
  return rows
}

// matching are the nodes that a search finds, and with kept also all above them.
export function matching<T extends Branch>(tops: T[], found: (node: T) => boolean): { hits: Set<number>; kept: Set<number> } {
  const [hits, kept] = [new Set<number>(), new Set<number>()]
  const look = (node: T): boolean => {
    const hit = found(node)
    if (hit) hits.add(node.id)
    let below = false
    for (const child of childrenOf(node)) below = look(child) || below
    if (hit || below) kept.add(node.id)
    return hit || below
  }
  for (const top of tops) look(top)
  return { hits, kept }
}

// below are the ids of all that lies below a node.
export function below<T extends Branch>(node: T, ids: number[] = []): number[] {
  for (const child of childrenOf(node)) {
    ids.push(child.id)
    below(child, ids)
  }
  return ids
}

// edited is the tree with some records changed; what is not concerned stays the same.
export function edited<T extends Branch>(tops: T[], changes: Map<number, Partial<T>>): T[] {
  let touched = false
  const next = tops.map((node) => {
    const children = node.children && edited(childrenOf(node), changes)
    const change = changes.get(node.id)
    if (!change && children === node.children) return node
    touched = true
    return { ...node, ...change, ...(children && { children }) }
  })
  return touched ? next : tops
}
