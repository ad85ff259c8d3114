import { useCallback } from 'react'
import { Failure, get, put } from '../../api/request'
import { useGet } from '../useGet'
import { edited } from './model'
import type { Record } from './useMoves'

// useTree is a tree of the interface, and the way to change one of its records
// without loading all anew.
export function useTree<T extends Record>(path: string) {
  const { data, set: setData } = useGet<{ data: T[] }>(path)
  const set = useCallback((tree: T[]) => setData({ data: tree }), [setData])
  const reload = useCallback(async () => {
    const answer = await get<{ data: T[] }>(path)
    setData(answer)
    return answer.data
  }, [path, setData])

  // change writes some fields of a node as it was loaded; at is for a route of its own.
  async function change(node: T, fields: Partial<T>, at = ''): Promise<T> {
    try {
      const record = await put<T>(`${path}/${node.id}${at}`, { ...fields, updated_at: node.updated_at })
      setData((old) => old && { data: edited(old.data, new Map([[node.id, record]])) })
      return record
    } catch (cause) {
      if (cause instanceof Failure && [404, 409].includes(cause.status)) await reload() // it is not what it was
      throw cause
    }
  }

  return { tree: data?.data, set, reload, change }
}
