import fc from 'fast-check'
import { expect, test } from 'vitest'
import { below, childrenOf, edited, matching, placesOf, pruned, rowsOf } from './model'
import { moved, moveOf, type Ordered } from './moves'

type Node = Ordered & { children?: Node[] }

// A tree in server order, from numbered parents: each node is below an earlier one, or at
// the top level.
const trees = fc.array(fc.record({ parent: fc.nat(20), sort: fc.integer({ min: -5, max: 5 }) }), { minLength: 1, maxLength: 20 }).map((list) => {
  const nodes: Node[] = list.map(({ parent, sort }, i) => ({ id: i + 1, parent_id: parent % (i + 1), sort }))
  const of = (parent: number): Node[] =>
    nodes
      .filter((node) => node.parent_id === parent)
      .sort((a, b) => a.sort - b.sort || a.id - b.id)
      .map((node) => {
        const children = of(node.id)
        return children.length ? { ...node, children } : node
      })
  return of(0)
})

const all = (tree: Node[]) => [...placesOf(tree).values()]

// Moves a node to an index below another that is not its descendant.
const moves = trees.chain((tree) =>
  fc.constantFrom(...all(tree)).chain(({ node }) => {
    const parents = [0, ...all(tree).map((place) => place.node.id)].filter((id) => id !== node.id && !below(node).includes(id))
    return fc.constantFrom(...parents).chain((parent) => {
      const place = placesOf(tree).get(parent)
      const siblings = (place ? childrenOf(place.node) : tree).filter((one) => one.id !== node.id)
      return fc.nat(siblings.length).map((index) => ({ tree, id: node.id, parent, index, siblings: siblings.map((one) => one.id) }))
    })
  }),
)

const shape = (tree: Node[]): unknown => tree.map((node) => [node.id, shape(childrenOf(node))])

test('a moved node is where it was moved to, and its siblings keep their order', () => {
  fc.assert(
    fc.property(moves, ({ tree, id, parent, index, siblings }) => {
      const next = moved(tree, moveOf(tree, id, parent, index))
      const place = placesOf(next).get(id)
      expect([place?.parent?.id ?? 0, place?.node.parent_id, (place?.position ?? 0) - 1]).toEqual([parent, parent, index])
      const there = placesOf(next).get(parent)
      expect((there ? childrenOf(there.node) : next).map((one) => one.id)).toEqual(siblings.toSpliced(index, 0, id))
    }),
  )
})

test('a move loses no node, and takes along what is below', () => {
  fc.assert(
    fc.property(moves, ({ tree, id, parent, index }) => {
      const next = moved(tree, moveOf(tree, id, parent, index))
      const ids = (nodes: Node[]) =>
        all(nodes)
          .map((place) => place.node.id)
          .sort()
      expect(ids(next)).toEqual(ids(tree))
      const node = (nodes: Node[]) => placesOf(nodes).get(id)?.node as Node
      expect(shape(childrenOf(node(next)))).toEqual(shape(childrenOf(node(tree))))
    }),
  )
})

test('a move to where a node is writes nothing', () => {
  fc.assert(
    fc.property(moves, ({ tree, id, parent, index }) => {
      const next = moved(tree, moveOf(tree, id, parent, index))
      expect(moveOf(next, id, parent, index)).toEqual([])
    }),
  )
})

test('the numbers and parents from before a move undo it', () => {
  fc.assert(
    fc.property(moves, ({ tree, id, parent, index }) => {
      const writes = moveOf(tree, id, parent, index)
      const places = placesOf(tree)
      const back = writes.map((write) => {
        const old = places.get(write.id)?.node
        return { id: write.id, parent_id: old?.parent_id, sort: old?.sort }
      })
      expect(moved(moved(tree, writes), back)).toEqual(tree)
    }),
  )
})

test('an edit changes its records, and the rest of the tree stays the same objects', () => {
  fc.assert(
    fc.property(trees, fc.integer({ min: 1, max: 25 }), (tree, id) => {
      const next = edited(tree, new Map([[id, { sort: 99 }]]))
      const known = placesOf(tree).get(id)
      expect(placesOf(next).get(id)?.node.sort).toBe(known ? 99 : undefined)
      if (!known) expect(next).toBe(tree)
      const concerned = new Set<number>()
      for (let place = known; place; place = place.parent && placesOf(tree).get(place.parent.id)) concerned.add(place.node.id)
      for (const { node } of all(next)) expect(placesOf(tree).get(node.id)?.node === node).toBe(!concerned.has(node.id))
    }),
  )
})

test('a search keeps what it finds and all that is above', () => {
  fc.assert(
    fc.property(trees, fc.func(fc.boolean()), (tree, found) => {
      const wanted = new Map(all(tree).map(({ node }) => [node.id, found(node.id)]))
      const { hits, kept } = matching(tree, (node) => wanted.get(node.id) === true)
      for (const { node } of all(tree)) {
        expect(hits.has(node.id)).toBe(wanted.get(node.id))
        expect(kept.has(node.id)).toBe([node.id, ...below(node)].some((id) => wanted.get(id)))
      }
      const rows = rowsOf(tree, () => true, kept)
      expect(new Set(rows.map((row) => row.node.id))).toEqual(kept)
    }),
  )
})

test('a pruned tree has the chosen nodes and those above them', () => {
  fc.assert(
    fc.property(
      trees.chain((tree) => fc.record({ tree: fc.constant(tree), ids: fc.uniqueArray(fc.constantFrom(...all(tree).map(({ node }) => node.id))) })),
      ({ tree, ids }) => {
        const chosen = new Set(ids)
        const wanted = all(tree).filter(({ node }) => [node.id, ...below(node)].some((id) => chosen.has(id)))
        const left = all(pruned(tree, chosen))
        expect(left.map(({ node }) => node.id)).toEqual(wanted.map(({ node }) => node.id))
        for (const { node } of left) expect(node.children?.length).not.toBe(0)
      },
    ),
  )
})
