import { useCallback } from 'react'
import { getAll } from '../api/get-all'
import type { Listing } from '../api/paths'
import { useResponse } from './useResponse'

// useAll loads all records of an API list, for pages that search and sort without
// requests. No request is made while path is empty.
export function useAll<T>(path: Listing<T> | '') {
  const question = useCallback(async (signal: AbortSignal, quiet: boolean) => (path ? await getAll<T>(path, {}, signal, quiet) : undefined), [path])
  const { data, loading, reload, set: replace } = useResponse<T[]>(path && `every ${path}`, path, question)
  const set = useCallback((edit: (rows: T[]) => T[]) => replace((now) => now && edit(now)), [replace])
  return { rows: data, loading, reload, set }
}
