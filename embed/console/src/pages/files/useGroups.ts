import { useMemo } from 'react'
import type { FileGroup } from '../../api/types'
import { useAccount } from '../../app/account'
import { useAll } from '../../ui/useAll'

const none: FileGroup[] = []

// useGroups loads all folders; none without permission to list them.
export function useGroups() {
  const seen = useAccount().may('file.group.query')
  const { rows: all = none, reload } = useAll<FileGroup>(seen ? '/file/group' : '')
  const names = useMemo(() => new Map(all.map((group) => [group.id, group.name])), [all])
  return { seen, all, reload, name: (id: number) => names.get(id) ?? `#${id}` }
}

export type Groups = ReturnType<typeof useGroups>
