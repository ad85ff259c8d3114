import { App } from 'antd'
import { useCallback, useEffect, useEffectEvent, useRef, useState } from 'react'
import { Failure, hooks, isUnanswered, put, unconfirmed } from '../../api/request'
import type { Setting } from '../../api/types'
import { t } from '../../i18n'
import { useAction } from '../../ui/useAction'
import { words } from '../../ui/words'
import { type Drafts, drop, now, stamp } from './drafts'
import type { Group } from './useSettings'

type Props = {
  groups: Group[]
  load: () => Promise<Setting[]>
  lead: (id: number) => void // focuses a setting
}

// useSave saves all drafts in one request. It reloads the settings before, so that it does
// not overwrite someone else's changes. Without a response, they are saved once the settings can be loaded again.
export function useSave({ groups, load, lead }: Props) {
  const [busy, setBusy] = useState(false)
  const [faults, setFaults] = useState<Record<number, string>>({})
  const running = useRef(false) // two key presses may precede the next render
  const waiting = useRef<Drafts>(undefined) // what is saved once the server answers, unless more is typed
  const { notify } = useAction()
  const { message } = App.useApp()

  const keys = new Map(groups.map((g) => [g.id, g.key]))
  const name = (s: Setting) => `${keys.get(s.group_id)}.${s.key}`

  function refused(cause: unknown, settings: Setting[]): void {
    if (unconfirmed(cause)) return
    if (!(cause instanceof Failure)) throw cause
    const at = settings.filter((s) => cause.errors[`values.${name(s)}`])
    setFaults(Object.fromEntries(at.map((s) => [s.id, cause.errors[`values.${name(s)}`]!])))
    if (at[0]) lead(at[0].id)
    void message.error(at.length ? t('settings.faults', { n: at.length }) : words(cause))
  }

  async function send(mine: Drafts) {
    const settings = await load()
    const changed = settings.filter((s) => mine.has(s.id))
    const stale = changed.filter((s) => mine.get(s.id)!.base !== stamp(s))
    if (stale[0]) {
      lead(stale[0].id)
      void message.warning(t('settings.stale', { n: stale.length }))
      return
    }
    if (changed.length === 0) return
    const values = Object.fromEntries(changed.map((s) => [name(s), mine.get(s.id)!.value]))
    try {
      await put('/system/setting', { values }, { quiet: true })
    } catch (cause) {
      if (isUnanswered(cause)) throw cause
      refused(cause, changed)
      return
    }
    drop(mine)
    await load()
    const before = Object.fromEntries(changed.filter((s) => s.type !== 'secret').map((s) => [name(s), s.values]))
    const undo = Object.keys(before).length === changed.length ? () => put('/system/setting', { values: before }).then(load) : undefined
    notify(t('settings.saved', { n: changed.length }), undo)
  }

  async function save() {
    const mine = now()
    if (running.current || mine.size === 0) return
    running.current = true
    setBusy(true)
    setFaults({})
    waiting.current = undefined
    try {
      await send(mine)
    } catch (cause) {
      if (!isUnanswered(cause)) throw cause
      if (!(await hooks.lost())) return void message.error(t('error.unreachable')) // it answers, but not to this
      waiting.current = mine
      void message.warning(t('form.waiting'))
    } finally {
      running.current = false
      setBusy(false)
    }
  }

  const retry = useEffectEvent(() => {
    if (waiting.current === now()) void save()
  })
  // biome-ignore lint/correctness/useExhaustiveDependencies: new groups mean that the server answers
  useEffect(retry, [groups])

  // A fault applies to the submitted value, not to what is typed later.
  const clear = useCallback(
    (id: number) =>
      setFaults((all) => {
        const { [id]: fault, ...rest } = all
        return fault === undefined ? all : rest
      }),
    [],
  )
  return { save, busy, faults, clear, forget: () => setFaults({}) }
}
