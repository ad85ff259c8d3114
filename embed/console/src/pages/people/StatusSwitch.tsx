import { Switch, Tag } from 'antd'
import { useEffect, useState } from 'react'
import { put } from '../../api/request'
import { useAccount } from '../../app/account'
import { t } from '../../i18n'
import { useAction } from '../../ui/useAction'
import { names } from './person'
import type { Realm } from './realm'

type Props = {
  user: { id: number; username: string; status: 0 | 1 }
  realm: Realm
  own: boolean // users can't disable themselves
  reload: () => Promise<void>
}

// StatusSwitch updates optimistically, and reverts on failure.
export function StatusSwitch({ user, realm, own, reload }: Props) {
  const { may } = useAccount()
  const { notify } = useAction()
  const [on, setOn] = useState(user.status === 1)
  const [busy, setBusy] = useState(false)
  // biome-ignore lint/nursery/useReactCompiler: the reloaded record is authoritative
  useEffect(() => setOn(user.status === 1), [user])
  if (!may(`${realm.access}.status`)) return on ? <Tag color="success">{t('enabled')}</Tag> : <Tag>{t('disabled')}</Tag>

  async function ask(to: boolean) {
    await put(`${realm.path}/${user.id}/status`, { status: to })
    await reload()
  }

  async function turn(to: boolean) {
    setOn(to)
    setBusy(true)
    try {
      await ask(to)
      notify(t(to ? 'people.enabled' : 'people.disabled', { name: names([user]) }), () => ask(!to))
    } catch {
      setOn(!to) // the failure is shown
    } finally {
      setBusy(false)
    }
  }

  return (
    <Switch
      size="small"
      checked={on}
      disabled={own || busy}
      onChange={(to) => void turn(to)}
      aria-label={t(on ? 'people.status.on' : 'people.status.off', { name: user.username })}
      title={own ? t('people.own') : on ? t('enabled') : t('disabled')}
    />
  )
}
