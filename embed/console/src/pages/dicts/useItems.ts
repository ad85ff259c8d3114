import { useRef, useState } from 'react'
import { Failure, put } from '../../api/request'
import type { DictItem } from '../../api/types'
import { t } from '../../i18n'
import { between } from '../../ui/order'
import { useAll } from '../../ui/useAll'

type Items = `/system/dict/${number}/item`

const inOrder = (a: DictItem, b: DictItem) => a.sort - b.sort || a.id - b.id

// useItems loads all items of a dictionary in order, and moves them.
export function useItems(path: Items | '') {
  const list = useAll<DictItem>(path)
  const moving = useRef(false)
  const [said, setSaid] = useState('') // for screen readers

  // change saves one field of an item and updates the list.
  async function change(item: DictItem, fields: Partial<DictItem>): Promise<DictItem> {
    const stored = await put(`${path as Items}/${item.id}`, { ...fields, updated_at: item.updated_at }).catch((cause) => {
      if (cause instanceof Failure && cause.code === 'stale') void list.reload()
      throw cause
    })
    list.set((rows) => rows.map((row) => (row.id === stored.id ? stored : row)).sort(inOrder))
    return stored
  }

  // place moves an item; each move is saved before the next one.
  async function place(item: DictItem, to: number) {
    const rows = list.rows ?? []
    if (moving.current || to < 0 || to >= rows.length) return
    moving.current = true
    const byID = new Map(rows.map((row) => [row.id, row]))
    const others = rows.filter((row) => row.id !== item.id)
    const sorts = new Map(between(others.slice(0, to), item, others.slice(to)).map(({ id, sort }) => [id, sort]))
    list.set((rows) => rows.map((row) => ({ ...row, sort: sorts.get(row.id) ?? row.sort })).sort(inOrder))
    setSaid(t('dicts.moved', { name: item.label, n: to + 1, of: rows.length }))
    try {
      const stored = new Map<number, DictItem>()
      for (const [id, sort] of sorts) stored.set(id, await put(`${path as Items}/${id}`, { sort, updated_at: byID.get(id)!.updated_at }))
      list.set((rows) => rows.map((row) => stored.get(row.id) ?? row))
    } catch (cause) {
      await list.reload()
      throw cause
    } finally {
      moving.current = false
    }
  }

  return { ...list, change, place, said }
}
