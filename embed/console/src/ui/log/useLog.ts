import { useCallback, useState } from 'react'
import { get, type Query } from '../../api/request'
import type { LogEntry, LogPage } from '../../api/types'
import { useGet } from '../useGet'
import { everything, useChanges } from '../useChanges'

export type LogPath = '/system/audit' | `/system/history/${string}/${number}`

const size = 20
const looks = 20 // pages that are read while nothing is found

// useLog loads entries of the change log, the newest first, and older ones on demand.
export function useLog(path: LogPath, query: Query = {}) {
  const { data, loading, reload, refresh, fresh } = useGet(path, { pageSize: size, ...query })
  const [older, setOlder] = useState<{ of: LogPage; entries: LogEntry[]; next: number; damaged: boolean }>()
  const [busy, setBusy] = useState(false)
  const below = older && older.of === data ? older : undefined
  const next = (below ?? data)?.next ?? 0
  const [overtaken, setOvertaken] = useState<LogPage>() // there are newer entries than on this page

  // A refresh would drop the older entries.
  async function look() {
    if (!below && !busy) return refresh()
    const page = await get(path, { ...query, pageSize: 1 }, { quiet: true }).catch(() => undefined)
    const newest = page?.data[0]
    if (newest && newest.seq !== data?.data[0]?.seq) setOvertaken(data)
  }
  useChanges(everything, look, fresh)

  // more returns the number of the first entry that it found.
  const more = useCallback(async (): Promise<number | undefined> => {
    if (!data) return undefined
    setBusy(true)
    try {
      let before = next
      const found: LogEntry[] = []
      let damaged = below?.damaged ?? false
      for (let look = 0; look < looks && before && !found.length; look++) {
        const page = await get(path, { pageSize: size, ...query, before })
        found.push(...page.data)
        before = page.next
        damaged ||= page.damaged === 1
      }
      setOlder({ of: data, entries: [...(below?.entries ?? []), ...found], next: before, damaged })
      return found[0]?.seq
    } catch {
      return undefined // already shown
    } finally {
      setBusy(false)
    }
  }, [data, below, next, path, query])

  return {
    entries: data && [...data.data, ...(below?.entries ?? [])],
    total: data?.total ?? undefined,
    damaged: data?.damaged === 1 || (below?.damaged ?? false), // whether entries or values may be missing
    loading,
    busy,
    reload,
    newer: data !== undefined && data === overtaken, // whether there are newer entries, which a reload shows
    more: next ? more : undefined,
  }
}

export type Log = ReturnType<typeof useLog>
