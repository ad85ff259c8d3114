import { Tag } from 'antd'
import { put } from '../../api/request'
import { useAccount } from '../../app/account'
import { t } from '../../i18n'
import { Toggle } from '../../ui/Toggle'
import { useAction } from '../../ui/useAction'
import { names } from './person'
import type { Realm } from './realm'

type Props = {
  user: { id: number; username: string; status: 0 | 1 }
  realm: Realm
  own: boolean // users can't disable themselves
  reload: () => Promise<void>
}

// StatusSwitch enables and disables a person.
export function StatusSwitch({ user, realm, own, reload }: Props) {
  const { may } = useAccount()
  const { notify } = useAction()
  if (!may(`${realm.access}.status`)) return user.status ? <Tag color="success">{t('enabled')}</Tag> : <Tag>{t('disabled')}</Tag>

  async function ask(to: boolean) {
    await put(`${realm.path}/${user.id}/status`, { status: to })
    await reload()
  }

  async function turn(to: boolean) {
    await ask(to)
    notify(t(to ? 'people.enabled' : 'people.disabled', { name: names([user]) }), () => ask(!to))
  }

  return (
    <Toggle
      on={user.status === 1}
      disabled={own}
      turn={turn}
      label={(on) => t(on ? 'people.status.on' : 'people.status.off', { name: user.username })}
      title={(on) => (own ? t('people.own') : on ? t('enabled') : t('disabled'))}
    />
  )
}
