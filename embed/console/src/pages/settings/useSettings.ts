import { useCallback, useEffect, useMemo, useRef, useState } from 'react'
import { moment } from '../../api/changes'
import { getAll } from '../../api/get-all'
import { Failure, get } from '../../api/request'
import type { Setting, SettingGroup } from '../../api/types'
import { useAccount } from '../../app/account'
import { t } from '../../i18n'
import { useMissing } from '../../ui/missing'
import { useReconnect } from '../../ui/useReconnect'
import { useChanges } from '../../ui/useChanges'
import { restore, settle } from './drafts'

export type Group = Named & { settings: Setting[] }

type Named = Pick<SettingGroup, 'id' | 'key' | 'title' | 'remark' | 'public' | 'updated_at'>

// useSettings loads every setting by group. Users who can't list groups get their keys and titles.
export function useSettings() {
  const { may } = useAccount()
  const [answer, setAnswer] = useState<{ settings: Setting[]; groups: Named[] }>()
  const [failed, setFailed] = useState(false)
  const asked = useRef<AbortController>(undefined)
  const fresh = useRef(0)
  const seen = may('system.setting.group.query')

  const load = useCallback(async () => {
    asked.current?.abort() // a late response to an older request is ignored
    const question = new AbortController()
    asked.current = question
    fresh.current = moment()
    const [settings, groups] = await Promise.all([
      getAll<Setting>('/system/setting', {}, question.signal),
      seen ? getAll<SettingGroup>('/system/setting-group', {}, question.signal) : choices(question.signal),
    ])
    restore()
    settle(settings)
    setAnswer({ settings, groups })
    setFailed(false)
    return settings
  }, [seen])

  const look = useCallback(() => void load().catch((cause: unknown) => setFailed(cause instanceof Failure)), [load])
  useEffect(() => {
    look()
    return () => asked.current?.abort()
  }, [look])
  useReconnect(look)
  useMissing(failed)
  useChanges(['setting', 'setting_group'], look, fresh)

  const groups = useMemo(() => answer && grouped(answer.settings, answer.groups), [answer])
  return { groups, load }
}

async function choices(signal: AbortSignal): Promise<Named[]> {
  const { data } = await get('/admin/choice', { of: 'setting_group' }, { signal })
  return data.map(({ id, key, name }) => ({ id, key, title: name, remark: '', public: 0, updated_at: '' }))
}

function grouped(settings: Setting[], groups: Named[]): Group[] {
  const found = new Map<number, Group>(groups.map((g) => [g.id, { ...g, settings: [] }]))
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
