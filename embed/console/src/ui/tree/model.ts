// Trees of the API, and what the screen needs from them.

export type Branch = { id: number; parent_id: number; children?: Branch[] }

// Titled is a node with a name.
export type Titled = Branch & { name: string; children?: Titled[] }

// Place is a node's position: its parent, index and number of siblings.
export type Place<T> = { node: T; parent?: T; level: number; position: number; size: number }

// Row is a visible node.
export type Row<T> = Place<T> & { open: boolean; leaf: boolean }

// The API's types declare children of T as T.
export const childrenOf = <T extends Branch>(node: T): T[] => (node.children ?? []) as T[]

// placesOf returns the places of all nodes by ID, in screen order.
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

// rowsOf returns the rows of a tree with some nodes expanded, limited to kept if given.
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

// matching returns the nodes that match a search, and with kept also their parents.
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

// below returns the IDs of all descendants.
export function below<T extends Branch>(node: T, ids: number[] = []): number[] {
  for (const child of childrenOf(node)) {
    ids.push(child.id)
    below(child, ids)
  }
  return ids
}

// pruned returns the tree with only the given nodes and those above them.
export function pruned<T extends Branch>(tops: T[], ids: Set<number>): T[] {
  return tops.flatMap((node) => {
    const children = pruned(childrenOf(node), ids)
    return children.length || ids.has(node.id) ? [{ ...node, children: children.length ? children : undefined }] : []
  })
}

// edited returns the tree with some records changed, sharing unchanged parts.
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
