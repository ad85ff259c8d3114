import { EditOutlined, SyncOutlined } from '@ant-design/icons'
import { Alert, Button, Empty, Flex, Spin } from 'antd'
import { useEffect, useMemo, useRef } from 'react'
import { useNavigate, useParams } from 'react-router'
import { post } from '../../api/request'
import type { Access } from '../../api/types'
import { useAccount } from '../../app/account'
import { given, t } from '../../i18n'
import { Bar } from '../../ui/Bar'
import { count } from '../../ui/format'
import { useAction } from '../../ui/useAction'
import { useQueryParams } from '../../ui/useQueryParams'
import { useWider } from '../../ui/useWider'
import { drop, stamp, useDrafts, useSince } from './drafts'
import { Groups } from './Groups'
import { SaveBar } from './SaveBar'
import { Section } from './Section'
import { useDefine } from './useDefine'
import { useSave } from './useSave'
import { type Group, pathOf, useSettings } from './useSettings'
import { Restored } from '../../ui/useDraft'
import { useLatest } from '../../ui/useLatest'
import { folded, has } from '../../ui/fold'

const defining: Access[] = [
  'system.setting.create',
  'system.setting.update',
  'system.setting.delete',
  'system.setting.group.create',
  'system.setting.group.update',
  'system.setting.group.delete',
]

// Settings shows all groups of settings. Changes are collected and saved together.
export function Settings() {
  const { groups, load } = useSettings()
  return groups ? (
    <Page groups={groups} load={load} />
  ) : (
    <>
      <Bar title={t('menu.system.setting')} search={false} list={{ params: new URLSearchParams(), set: () => {}, reload: async () => void (await load()) }} />
      <Spin delay={200} />
    </>
  )
}

function Page({ groups, load }: { groups: Group[]; load: ReturnType<typeof useSettings>['load'] }) {
  const { may } = useAccount()
  const { confirm, notify } = useAction()
  const lg = useWider('lg')
  const { params, set } = useQueryParams()
  const navigate = useNavigate()
  const drafts = useDrafts()
  const since = useSince()
  const at = useParams()['*'] ?? ''
  const search = (params.get('keywordSearch') ?? '').trim()
  const on = params.get('define') === '1' && defining.some(may)
  const here = groups.find((g) => g.key === at || String(g.id) === at) ?? groups[0]
  const kept = on ? '?define=1' : ''

  const wanted = useRef<number>(undefined)
  const lead = (id: number) => {
    wanted.current = id
    const group = groups.find((g) => g.settings.some((s) => s.id === id))
    if (group) void navigate(pathOf(group) + kept)
  }
  useEffect(() => {
    if (focusOn(wanted.current)) wanted.current = undefined
  }) // once rendered

  const { save, busy, faults, clear, forget } = useSave({ groups, load, lead })
  const { define, drawers } = useDefine({ on, groups, load })
  useSaveKey(() => void save())

  const changed = useMemo(() => groups.flatMap((g) => g.settings).filter((s) => drafts.has(s.id)), [groups, drafts])
  const wrong = changed.filter((s) => faults[s.id] || drafts.get(s.id)!.base !== stamp(s))

  function dropAll() {
    drop(drafts)
    forget()
  }

  async function discard() {
    if (await confirm({ title: t('settings.discard.sure', { n: changed.length }), text: t('settings.discard.text'), ok: t('settings.discard') })) dropAll()
  }

  async function refresh() {
    const { count: n, generation, took_ms, waiting } = await post('/system/setting/refresh')
    await load()
    notify(t('settings.refreshed', { n: count(n), generation: count(generation), ms: took_ms }))
    if (waiting.length > 0) notify(t('settings.refreshed.waiting', { nodes: waiting.join(', ') }))
  }

  const list = useMemo(() => ({ params, set, reload: async () => void (await load()) }), [params, set, load])
  const found = search ? match(groups, search) : here ? [{ group: here, settings: here.settings }] : []
  return (
    <>
      <Bar
        title={t('menu.system.setting')}
        list={list}
        actions={
          <>
            {may('system.setting.refresh') && (
              <Button icon={<SyncOutlined />} title={t('settings.refresh.text')} onClick={() => void refresh()}>
                {t('settings.refresh')}
              </Button>
            )}
            {on && may('system.setting.group.create') && <Button onClick={define.createGroup}>{t('settings.group.create')}</Button>}
            {defining.some(may) && (
              <Button icon={<EditOutlined />} type={on ? 'primary' : 'default'} aria-pressed={on} onClick={() => set({ define: on ? undefined : '1' })}>
                {t(on ? 'settings.define.end' : 'settings.define')}
              </Button>
            )}
          </>
        }
      />
      {!may('system.setting.save') && <Alert type="info" showIcon title={t('settings.read_only')} style={{ marginBottom: 16 }} />}
      <Restored since={since} onDiscard={dropAll} />
      <Flex gap={lg ? 24 : 0} vertical={!lg} align={lg ? 'flex-start' : 'stretch'}>
        <Groups groups={groups} here={search ? undefined : here} drafts={drafts} search={kept} />
        <div style={{ flex: 1, minWidth: 0, maxWidth: 1040 }}>
          {found.map(({ group, settings }) => (
            <Section key={group.id} group={group} settings={settings} drafts={drafts} faults={faults} onWrite={clear} define={on ? define : undefined} />
          ))}
          {found.length === 0 &&
            (search ? (
              <Empty image={Empty.PRESENTED_IMAGE_SIMPLE} description={t('empty.narrowed')}>
                <Button onClick={() => set({ keywordSearch: undefined })}>{t('empty.clear')}</Button>
              </Empty>
            ) : (
              <Empty image={Empty.PRESENTED_IMAGE_SIMPLE} description={t('settings.empty')} />
            ))}
          <SaveBar
            changes={changed.length}
            groups={new Set(changed.map((s) => s.group_id)).size}
            wrong={wrong.length}
            busy={busy}
            onSave={() => void save()}
            onDiscard={() => void discard()}
            onWrong={() => wrong[0] && lead(wrong[0].id)}
          />
        </div>
      </Flex>
      {drawers}
    </>
  )
}

// match finds settings by title, description and full name.
function match(groups: Group[], search: string) {
  const text = folded(search)
  return groups
    .map((group) => ({
      group,
      settings: group.settings.filter((s) => has(text, s.title, given(s.title), s.describe, given(s.describe), `${group.key}.${s.key}`)),
    }))
    .filter(({ settings }) => settings.length > 0)
}

// focusOn focuses a setting; false if it is not rendered.
function focusOn(id: number | undefined): boolean {
  const row = id === undefined ? null : document.getElementById(`setting-${id}-row`)
  row?.scrollIntoView({ block: 'center' })
  const control = document.getElementById(`setting-${id}`)
  const within = row?.querySelector<HTMLElement>('input:not([hidden]), textarea, button[role=switch]')
  ;(control?.matches('input, textarea, button') ? control : within)?.focus({ preventScroll: true })
  return row !== null
}

// useSaveKey saves with Ctrl+S, and with Ctrl+Enter as every other form does.
function useSaveKey(save: () => void): void {
  const latest = useLatest(save)
  useEffect(() => {
    const pressed = (e: KeyboardEvent) => {
      if ((e.key !== 'Enter' && e.key.toLowerCase() !== 's') || !(e.ctrlKey || e.metaKey) || e.altKey || e.shiftKey) return
      e.preventDefault() // instead of the browser's own save
      if (!document.querySelector('[role=dialog]')) latest.current()
    }
    window.addEventListener('keydown', pressed)
    return () => window.removeEventListener('keydown', pressed)
  }, [])
}
