import { useCallback, useEffect, useMemo, useRef, useState } from 'react'
import { moment } from '../../api/changes'
import { every } from '../../api/every'
import type { Setting, SettingGroup } from '../../api/types'
import { useAccount } from '../../app/account'
import { t } from '../../i18n'
import { useBack } from '../../ui/useBack'
import { useNews } from '../../ui/useNews'
import { settle } from './drafts'

export type Group = Pick<SettingGroup, 'id' | 'key' | 'title' | 'remark' | 'public' | 'updated_at'> & { settings: Setting[] }

// useSettings loads every setting by group. Without permission to list groups, settings
// appear under group numbers and can't be saved, as that needs the groups' keys.
export function useSettings() {
  const { may } = useAccount()
  const [answer, setAnswer] = useState<{ settings: Setting[]; groups?: SettingGroup[] }>()
  const asked = useRef<AbortController>(undefined)
  const fresh = useRef(0)
  const seen = may('system.setting.group.query')

  const load = useCallback(async () => {
    asked.current?.abort() // a late response to an older request is ignored
    const question = new AbortController()
    asked.current = question
    fresh.current = moment()
    const [settings, groups] = await Promise.all([
      every<Setting>('/system/setting', {}, question.signal),
      seen ? every<SettingGroup>('/system/setting-group', {}, question.signal) : undefined,
    ])
    settle(settings)
    setAnswer({ settings, groups })
    return settings
  }, [seen])

  const look = useCallback(() => void load().catch(() => {}), [load]) // the failure is shown
  useEffect(() => {
    look()
    return () => asked.current?.abort()
  }, [look])
  useBack(look)
  useNews(['setting', 'setting_group'], look, fresh)

  const groups = useMemo(() => answer && grouped(answer.settings, answer.groups), [answer])
  return { groups, load }
}

function grouped(settings: Setting[], groups: SettingGroup[] | undefined): Group[] {
  const found = new Map<number, Group>(groups?.map((g) => [g.id, { ...g, settings: [] }]))
  for (const s of settings) {
    let group = found.get(s.group_id)
    if (!group) {
      group = { id: s.group_id, key: '', title: t('settings.group.number', { n: s.group_id }), remark: '', public: 0, updated_at: '', settings: [] }
      found.set(s.group_id, group)
    }
    group.settings.push(s)
  }
  return [...found.values()]
}

// pathOf is the path of a group's page.
export function pathOf(group: Group): string {
  return `/system/setting/${group.key || group.id}`
}
