import { useState } from 'react'
import { type Branch, placesOf } from '../../ui/tree/model'

// Edits is the node open in a drawer, or the parent of a new one.
export type Edits<T> = { node?: T; parent?: T }

// useEdits is the state of a tree's drawer, and the node to reveal after saving.
export function useEdits<T extends Branch>(reloadTree: () => Promise<T[]>) {
  const [edits, edit] = useState<Edits<T>>()
  const [reveal, setReveal] = useState<number>()

  async function reload(old: T): Promise<T> {
    const node = placesOf(await reloadTree()).get(old.id)?.node ?? old
    edit({ node })
    return node
  }

  async function saved(id: number) {
    await reloadTree()
    setReveal(id)
  }

  return { edit, reveal, drawer: { edits, onClose: () => edit(undefined), reload, saved } }
}
