import { type PointerEvent, type RefObject, useEffect, useRef, useState } from 'react'
import { type Branch, childrenOf, type Place, type Row } from './model'
import { type Handle, indent, rowHeight } from './Rows'
import { useLatest } from '../useLatest'

// Target is a drop position: a parent (0 for none) and an index among its other children.
// gap is the line to draw, undefined for a whole row.
export type Target = { parent: number; index: number; gap?: { row: number; level: number } }

type Options<T extends Branch> = {
  rows: Row<T>[]
  places: Map<number, Place<T>>
  tops: T[]
  list: RefObject<Handle | null>
  narrow: boolean
  holds: (node: T) => boolean // whether a node can have children
  drop: (id: number, target: Target) => void
}

// useDrag drags rows by any pointer: the middle of a row is a drop into it, an edge a drop
// between it and the next, where the horizontal position selects the level.
export function useDrag<T extends Branch>(options: Options<T>) {
  const [drag, setDrag] = useState<{ id: number; target?: Target }>()
  const latest = useLatest(options)
  const pointer = useRef({ x: 0, y: 0 })
  const target = useRef<Target>(undefined)

  const within = (node: T | undefined, id: number): boolean => {
    for (let n = node; n; n = latest.current.places.get(n.id)?.parent) if (n.id === id) return true
    return false
  }

  function aim(id: number): Target | undefined {
    const { rows, places, tops, list, narrow, holds } = latest.current
    const box = list.current!.sight().body.getBoundingClientRect()
    const y = (pointer.current.y - box.top) / rowHeight
    const i = Math.min(Math.max(Math.floor(y), 0), rows.length - 1)
    const [row, part] = [rows[i], y - i]
    if (!row) return undefined // the tree has become empty
    if (part > 0.25 && part < 0.75 && holds(row.node)) {
      if (within(row.node, id)) return undefined
      return { parent: row.node.id, index: childrenOf(row.node).filter((n) => n.id !== id).length }
    }
    const above = part < 0.5 ? rows[i - 1] : row
    const next = part < 0.5 ? row : rows[i + 1]
    const gap = part < 0.5 ? i : i + 1
    if (!above) return { parent: 0, index: 0, gap: { row: 0, level: 1 } }
    const deepest = above.open ? above.level + 1 : above.level
    let level = deepest
    const least = above.open ? deepest : (next?.level ?? 1)
    while (level > least && pointer.current.x - box.left < indent(level, narrow) + 12) level--
    let before: T | undefined = above.open && level === deepest ? undefined : above.node
    while (before && places.get(before.id)!.level > level) before = places.get(before.id)!.parent
    const parent = before ? places.get(before.id)!.parent : above.node
    if (within(parent, id)) return undefined
    const siblings = (parent ? childrenOf(parent) : tops).filter((n) => n.id !== id)
    // Next to itself it does not move.
    const index = before?.id === id ? places.get(id)!.position - 1 : before ? siblings.indexOf(before) + 1 : 0
    return { parent: parent?.id ?? 0, index, gap: { row: gap, level } }
  }

  const dragged = drag?.id
  // biome-ignore lint/correctness/useExhaustiveDependencies: aim only reads refs, and is a new function on each render
  useEffect(() => {
    if (dragged === undefined) return
    const aimed = () => {
      const next = aim(dragged)
      if (JSON.stringify(next) === JSON.stringify(target.current)) return
      target.current = next
      setDrag({ id: dragged, target: next })
    }
    const end = () => setDrag(undefined)
    const move = (e: globalThis.PointerEvent) => {
      pointer.current = { x: e.clientX, y: e.clientY }
      aimed()
    }
    const up = () => {
      if (target.current) latest.current.drop(dragged, target.current)
      end()
    }
    const key = (e: KeyboardEvent) => {
      if (e.key !== 'Escape') return
      e.preventDefault()
      end()
    }
    let frame = requestAnimationFrame(function scroll() {
      const { scroller } = latest.current.list.current!.sight()
      const box = scroller.getBoundingClientRect()
      const by = pointer.current.y < box.top + 56 ? -8 : pointer.current.y > box.bottom - 24 ? 8 : 0
      const old = scroller.scrollTop
      scroller.scrollTop += by
      if (scroller.scrollTop !== old) aimed()
      frame = requestAnimationFrame(scroll)
    })
    addEventListener('pointermove', move)
    addEventListener('pointerup', up)
    addEventListener('pointercancel', end)
    addEventListener('keydown', key, true)
    return () => {
      cancelAnimationFrame(frame)
      removeEventListener('pointermove', move)
      removeEventListener('pointerup', up)
      removeEventListener('pointercancel', end)
      removeEventListener('keydown', key, true)
    }
  }, [dragged])

  function start(e: PointerEvent, id: number) {
    if (e.button !== 0) return
    e.preventDefault() // prevents text selection
    pointer.current = { x: e.clientX, y: e.clientY }
    target.current = undefined
    setDrag({ id })
  }

  return { drag, start }
}
