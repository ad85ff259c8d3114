import { useCallback, useEffect, useMemo, useState } from 'react'
import { get } from '../../api/request'
import type { FileGroup, FileGroupPage } from '../../api/types'
import { useAccount } from '../../app/account'

const size = 1000 // the most that one answer holds

async function everyGroup(): Promise<FileGroup[]> {
  const groups: FileGroup[] = []
  for (let page = 1; ; page++) {
    const { data, total } = await get<FileGroupPage>('/file/group', { page, pageSize: size })
    groups.push(...data)
    if (data.length < size || groups.length >= total) return groups
  }
}

// useGroups is all file groups, none when their names may not be seen.
export function useGroups() {
  const { may } = useAccount()
  const [all, setAll] = useState<FileGroup[]>([])
  const seen = may('file.group.query')
  const reload = useCallback(async () => {
    if (seen) await everyGroup().then(setAll, () => {}) // a failure is shown, and what was there stays
  }, [seen])
  useEffect(() => void reload(), [reload])
  const names = useMemo(() => new Map(all.map((group) => [group.id, group.name])), [all])
  return { seen, all, reload, name: (id: number) => names.get(id) ?? `#${id}` }
}

export type Groups = ReturnType<typeof useGroups>
