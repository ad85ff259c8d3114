import { Alert, Button, type AlertProps } from 'antd'
import { useEffect, useEffectEvent } from 'react'
import { del, put } from '../../api/request'
import type { SignInState } from '../../api/types'
import { useAccount } from '../../app/account'
import { joined, type Key, maybe, t } from '../../i18n'
import type { Action } from '../../ui/Actions'
import { Locked } from '../../ui/Locked'
import { Time } from '../../ui/Time'
import { useAction } from '../../ui/useAction'
import { names, type Person } from './person'
import { helping } from './personActions'
import type { Realm } from './realm'

type Props = { user: Person; realm: Realm; state?: SignInState; own: boolean; edit: () => void; link: Action | false; reload: () => Promise<void> }

// Lockout says why a person can't sign in, and has a button that mends each reason for those who may.
export function Lockout({ user, realm, state: now, own, edit, link, reload }: Props) {
  const { may } = useAccount()
  const { notify } = useAction()
  const state = own ? undefined : now
  const until = user.lockout?.until
  const over = useEffectEvent(() => void reload())
  useEffect(() => {
    if (!until) return
    const wait = setTimeout(over, Math.max(1000, Date.parse(until) - Date.now()))
    return () => clearTimeout(wait)
  }, [until])
  const unlock = async () => {
    await del(`${realm.path}/${user.id}/lockout`)
    notify(t('unlocked', { name: names([user]) }))
    await reload()
  }
  const enable = async () => {
    await put(`${realm.path}/${user.id}/status`, { status: 1 })
    notify(t('people.enabled', { name: names([user]) }))
    await reload()
  }
  const help = helping(realm, own, may)
  const unlocks = help(`${realm.access}.unlock`, { label: t('unlock'), onClick: () => void unlock() })
  const mends: Record<string, Action | false> = {
    disabled: help(`${realm.access}.status`, { label: t('people.enable'), onClick: () => void enable() }),
    password_off: help(`${realm.access}.update`, { label: t('edit'), onClick: edit }),
    invited: link,
    no_password: link,
  }
  const elsewhere = state?.other_nodes === 1 && state.failed > 0 && !user.lockout
  return (
    <>
      {(state?.refused ?? []).map((reason) => (
        <Said key={reason} type="warning" title={t(`people.refused.${reason}` as Key)} action={mends[reason] ?? false} />
      ))}
      {user.lockout && (
        <Said
          type="warning"
          title={<Locked until={user.lockout.until} tries={user.lockout.tries} />}
          description={user.lockout.networks.length ? t('people.locked.from', { networks: joined(user.lockout.networks) }) : t('people.locked.everywhere')}
          action={unlocks}
        />
      )}
      {elsewhere && (
        <Said
          type="info"
          title={t('people.failed', { n: state.failed })}
          description={
            <>
              <Time at={state.failed_at ?? ''} />
              {state.failed_reason && `, ${maybe(`loginlog.reason.${state.failed_reason}`) ?? state.failed_reason}`}. {t('people.failed.nodes')}
            </>
          }
          action={unlocks}
        />
      )}
    </>
  )
}

function Said({ action, description, ...rest }: Pick<AlertProps, 'type' | 'title' | 'description'> & { action: Action | false }) {
  const refused = action !== false && action.why !== undefined && <div>{t('people.needs_for', { action: action.label, why: action.why })}</div>
  return (
    <Alert
      showIcon
      style={{ marginBottom: 16 }}
      {...rest}
      description={
        refused ? (
          <>
            {description}
            {refused}
          </>
        ) : (
          description
        )
      }
      action={action && !action.why && <Button onClick={action.onClick}>{action.label}</Button>}
    />
  )
}
