import { useState } from 'react'
import { type Branch, placesOf } from '../../ui/tree/model'

// Edits is the node open in a drawer, or the parent of a new one.
type Edits<T> = { node?: T; parent?: T }

// NodeProps are the props of a tree's drawer.
export type NodeProps<T> = {
  edits?: Edits<T> // undefined while it is closed
  tree: T[]
  onClose: () => void
  reload: (node: T) => Promise<T> // reloads a record that another session has changed
  saved: (id: number) => Promise<void>
}

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
