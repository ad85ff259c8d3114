import { useState } from 'react'
import { type Branch, placesOf } from '../../ui/tree/model'

// Edits is the node that a drawer changes, or the one below which it makes another.
export type Edits<T> = { node?: T; parent?: T }

// useEdits is what the drawer of a tree has open, and the node to be shown since it
// was saved.
export function useEdits<T extends Branch>(reload: () => Promise<T[]>) {
  const [edits, edit] = useState<Edits<T>>()
  const [reveal, setReveal] = useState<number>()

  async function again(old: T): Promise<T> {
    const node = placesOf(await reload()).get(old.id)?.node ?? old
    edit({ node })
    return node
  }

  async function saved(id: number) {
    await reload()
    setReveal(id)
  }

  return { edit, reveal, drawer: { edits, onClose: () => edit(undefined), again, saved } }
}
