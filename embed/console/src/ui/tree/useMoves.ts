import { App } from 'antd'
import { useInsertionEffect, useRef } from 'react'
import { Failure, request } from '../../api/request'
import { t } from '../../i18n'
import { useAction } from '../useAction'
import { words } from '../words'
import { edited, placesOf } from './model'
import { moved, moveOf, type Ordered, type Write } from './moves'

// Trees are the collections with tree records.
export type Trees = '/admin/dept' | '/admin/rule' | '/user/rule'

export type Record = Ordered & { updated_at: string }

type Options<T> = {
  path: Trees
  tree: T[]
  set: (tree: T[]) => void
  reload: () => Promise<unknown>
  name: (node: T) => string
  then?: () => void // called after a move is saved
}

const together = 8_000 // milliseconds within which moves of one node are undone together

// useMoves moves nodes of a tree: immediately on screen, and on the server one write after
// the other. When one fails, the rest is dropped and the tree reloaded.
export function useMoves<T extends Record>({ path, tree, set, reload, name, then }: Options<T>) {
  const now = useRef(tree) // ahead of the rendered tree, for moves in quick succession
  useInsertionEffect(() => {
    now.current = tree
  })
  const queue = useRef(Promise.resolve())
  const failed = useRef(0)
  const series = useRef<{ id: number; at: number; before: Map<number, Write> }>(undefined)
  const { notify } = useAction()
  const { message } = App.useApp()

  function apply(next: T[]) {
    now.current = next
    set(next)
  }

  async function send(writes: Write[], failures: number) {
    let written = 0
    try {
      for (const { id, ...fields } of writes) {
        if (failed.current !== failures) return false
        const updated_at = placesOf(now.current).get(id)?.node.updated_at
        const record = await request<T>('PUT', `${path}/${id}`, { body: { ...fields, updated_at }, quiet: true })
        apply(edited(now.current, new Map([[id, { updated_at: record.updated_at } as Partial<T>]])))
        written++
      }
      return true
    } catch (cause) {
      if (!(cause instanceof Failure)) throw cause
      failed.current++
      series.current = undefined
      const rest = writes.length > 1 ? ` ${t('tree.move.part', { written, all: writes.length })}` : ''
      void message.error(`${t('tree.move.failed')} ${words(cause)}${rest}`, 6)
      await reload()
      return false
    }
  }

  // write reports whether all was written.
  function write(writes: Write[], undo?: () => Promise<boolean>, text?: string): Promise<boolean> {
    const failures = failed.current
    apply(moved(now.current, writes))
    const sent = queue.current.then(() => send(writes, failures))
    queue.current = sent.then((worked) => {
      if (!worked) return
      if (text) notify(text, undo)
      then?.()
    })
    return queue.current.then(() => sent)
  }

  // move reports whether there was anything to move.
  function move(id: number, parent: number, index: number): boolean {
    const writes = moveOf(now.current, id, parent, index)
    if (!writes.length) return false
    const places = placesOf(now.current)
    const goesOn = series.current?.id === id && Date.now() - series.current.at < together
    const before = goesOn ? series.current!.before : new Map<number, Write>()
    for (const w of writes) {
      const { node, parent: above } = places.get(w.id)!
      const known = before.get(w.id) ?? { id: w.id, sort: node.sort }
      before.set(w.id, w.parent_id === undefined || known.parent_id !== undefined ? known : { ...known, parent_id: above?.id ?? 0 })
    }
    series.current = { id, at: Date.now(), before }
    void write(
      writes,
      async () => {
        series.current = undefined
        return write([...before.values()])
      },
      t('tree.moved', { name: name(places.get(id)!.node) }),
    )
    return true
  }

  return { move, tree: () => now.current }
}
