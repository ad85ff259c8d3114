import { useMemo } from 'react'
import type { FileGroup } from '../../api/types'
import { useAccount } from '../../app/account'
import { useAll } from '../../ui/useAll'
import { useChoices } from '../../ui/useChoices'

export type Folder = Pick<FileGroup, 'id' | 'name'> & { file_count?: number }

const none: Folder[] = []

// useGroups loads all folders. Users who can't list them get their names, to choose one.
export function useGroups() {
  const seen = useAccount().may('file.group.query')
  const { rows, reload } = useAll<FileGroup>(seen ? '/file/group' : '')
  const named = useChoices('file_group', !seen)
  const all: Folder[] = (seen ? rows : named) ?? none
  const names = useMemo(() => new Map(all.map((group) => [group.id, group.name])), [all])
  return { all, reload, name: (id: number) => names.get(id) ?? `#${id}` }
}

export type Groups = ReturnType<typeof useGroups>
