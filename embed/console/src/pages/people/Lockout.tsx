import { Alert, Button } from 'antd'
import { useEffect, useEffectEvent } from 'react'
import { del } from '../../api/request'
import { useAccount } from '../../app/account'
import { joined, t } from '../../i18n'
import { Locked } from '../../ui/Locked'
import { useAction } from '../../ui/useAction'
import { names, type Person } from './person'
import type { Realm } from './realm'

type Props = { user: Person; realm: Realm; reload: () => Promise<void> }

// Lockout says that a person can't sign in after failed sign-ins, and ends it.
export function Lockout({ user, realm, reload }: Props) {
  const { may } = useAccount()
  const { notify } = useAction()
  const until = user.lockout?.until
  const over = useEffectEvent(() => void reload())
  useEffect(() => {
    if (!until) return
    const wait = setTimeout(over, Math.max(1000, Date.parse(until) - Date.now()))
    return () => clearTimeout(wait)
  }, [until])
  if (!user.lockout) return null
  const { tries, networks } = user.lockout
  const unlock = async () => {
    await del(`${realm.path}/${user.id}/lockout`)
    notify(t('people.unlocked', { name: names([user]) }))
    await reload()
  }
  return (
    <Alert
      type="warning"
      showIcon
      style={{ marginBottom: 16 }}
      title={<Locked until={user.lockout.until} tries={tries} />}
      description={networks.length ? t('people.locked.from', { networks: joined(networks) }) : t('people.locked.everywhere')}
      action={may(`${realm.access}.unlock`) && <Button onClick={() => void unlock()}>{t('people.unlock')}</Button>}
    />
  )
}
