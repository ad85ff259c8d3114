import { App } from 'antd'
import { lazy, type ReactNode, useCallback, useMemo } from 'react'
import { useNavigate } from 'react-router'
import { post } from '../../api/request'
import type { Setting } from '../../api/types'
import { t } from '../../i18n'
import { useRemove } from '../../ui/useRemove'
import { useGet } from '../../ui/useGet'
import { Panel, usePanel } from '../../ui/usePanel'
import type { Group } from './useSettings'
import { useLatest } from '../../ui/useLatest'

const SettingDrawer = lazy(async () => ({ default: (await import('./SettingDrawer')).SettingDrawer }))
const GroupDrawer = lazy(async () => ({ default: (await import('./GroupDrawer')).GroupDrawer }))

export type Define = ReturnType<typeof useDefine>['define']

type Open = { what: 'setting'; group: number; setting?: Setting } | { what: 'group'; group?: Group }

// useDefine contains the actions on setting definitions: `on` is whether the mode is on,
// and `drawers` must be rendered.
export function useDefine({ on, groups, load }: { on: boolean; groups: Group[]; load: () => Promise<unknown> }) {
  const removing = useRemove()
  const { message } = App.useApp()
  const navigate = useNavigate()
  const used = useGet(on ? '/system/setting-builtin' : '').data
  const panel = usePanel<Open>()
  const { show, hide } = panel

  async function remove(group: Group, s: Setting) {
    const name = `${group.key}.${s.key}`
    const secret = s.type === 'secret' // its value does not come back
    const { id: _, created_at: _c, updated_at: _u, ...fields } = s
    const removed = await removing({
      path: `/system/setting/${s.id}`,
      question: { title: t('settings.delete', { name }), text: t('settings.delete.text'), ok: t('delete') },
      message: t('deleted', { name }),
      needs: secret ? undefined : ['system.setting.create'],
      restore: secret
        ? undefined
        : async () => {
            await post('/system/setting', fields)
            await load()
          },
    })
    if (removed) await load()
  }

  async function removeGroup(g: Group) {
    if (g.settings.length > 0) {
      void message.warning(t('settings.group.full', { n: g.settings.length }))
      return
    }
    const removed = await removing({
      path: `/system/setting-group/${g.id}`,
      question: { title: t('settings.group.delete.sure', { name: g.key }), text: t('settings.group.delete.text'), ok: t('delete') },
      message: t('deleted', { name: g.key }),
      needs: ['system.setting.group.create'],
      restore: async () => {
        await post('/system/setting-group', { key: g.key, title: g.title, remark: g.remark, public: g.public })
        await load()
      },
    })
    if (!removed) return
    await load()
    void navigate('/system/setting?define=1')
  }

  // builtin reports whether a group or setting is built-in; assumed until it is known.
  const builtin = useCallback((g: Group, s?: Setting) => !used || (s ? (used[g.key]?.includes(s.key) ?? false) : g.key in used), [used])

  const latestRef = useLatest({ remove, removeGroup })
  // Kept stable, since every visible field receives it.
  const define = useMemo(
    () => ({
      builtin,
      create: (g: Group) => show({ what: 'setting', group: g.id }),
      edit: (setting: Setting) => show({ what: 'setting', group: setting.group_id, setting }),
      remove: (g: Group, s: Setting) => void latestRef.current.remove(g, s),
      createGroup: () => show({ what: 'group' }),
      editGroup: (group: Group) => show({ what: 'group', group }),
      removeGroup: (g: Group) => void latestRef.current.removeGroup(g),
    }),
    [builtin, show],
  )
  const drawers: ReactNode = (
    <Panel of={panel}>
      {(shown, open) => {
        const props = { open, groups, load, onClose: hide }
        if (shown.what === 'group') return <GroupDrawer {...props} group={shown.group} builtin={!!shown.group && builtin(shown.group)} />
        const of = groups.find((g) => g.id === shown.group)
        return of && <SettingDrawer {...props} group={of} setting={shown.setting} builtin={!!shown.setting && builtin(of, shown.setting)} />
      }}
    </Panel>
  )
  return { define, drawers }
}
