import { type Dispatch, type SetStateAction, useCallback } from 'react'
import type { Giving, Path } from '../../api/paths'
import { Failure, request } from '../../api/request'
import { useGet } from '../useGet'
import { edited } from './model'
import type { Record, Trees } from './useMoves'

// useTree loads a tree, and changes one of its records without reloading everything.
export function useTree<T extends Record>(path: Trees & Giving<{ data: T[] }>) {
  const { data: answer, set: setAnswer } = useGet(path)
  const data = answer as { data: T[] } | undefined
  const setData = setAnswer as Dispatch<SetStateAction<{ data: T[] } | undefined>>
  const set = useCallback((tree: T[]) => setData({ data: tree }), [setData])
  const reload = useCallback(async () => {
    const answer = await request<{ data: T[] }>('GET', path)
    setData(answer)
    return answer.data
  }, [path, setData])

  // change saves flags of a node; at is for a route of its own.
  async function change(node: T, flags: { show?: 0 | 1; status?: 0 | 1 }, at: '' | '/show' | '/status' = ''): Promise<T> {
    try {
      const record = await request<T>('PUT', `${path as Trees}/${node.id}${at}` as Path, { body: { ...flags, updated_at: node.updated_at } })
      setData((old) => old && { data: edited(old.data, new Map([[node.id, record]])) })
      return record
    } catch (cause) {
      if (cause instanceof Failure && [404, 409].includes(cause.status)) await reload() // it was changed or deleted
      throw cause
    }
  }

  return { tree: data?.data, set, reload, change }
}
