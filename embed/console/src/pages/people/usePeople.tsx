import { App } from 'antd'
import { lazy, type ReactNode } from 'react'
import { del, download, type Query, save } from '../../api/request'
import type { OneTimeLink } from '../../api/types'
import { t } from '../../i18n'
import { count } from '../../ui/format'
import { useAction } from '../../ui/useAction'
import { Panel, usePanel } from '../../ui/usePanel'
import type { Leave } from '../../ui/useRecord'
import { type Links, useLinks } from '../invite/useLinks'
import type { Job } from './Progress'
import { names, type Person } from './person'
import type { Realm } from './realm'

const Progress = lazy(async () => ({ default: (await import('./Progress')).Progress }))
const Erase = lazy(async () => ({ default: (await import('./Erase')).Erase }))
const ActAs = lazy(async () => ({ default: (await import('./ActAs')).ActAs }))
const Reset = lazy(async () => ({ default: (await import('./Reset')).Reset }))
const CopyOnce = lazy(async () => ({ default: (await import('../../ui/CopyOnce')).CopyOnce }))
const UserSessions = lazy(async () => ({ default: (await import('./UserSessions')).UserSessions }))

// Chosen selects people, as the API takes them. names is undefined if all that match are selected.
export type Chosen = { query: Query; names?: string }

export type People<T extends Person> = {
  reset: (user: T) => void
  sessions: (user: T) => void
  remove: (user: T, leave?: Leave) => Promise<void> // then leaves instead of reloading
  erase: (user: T) => void
  unfactor: (user: T) => Promise<void> // removes the second factor
  act: (user: T) => void // acts as a user
  data: (user: T) => Promise<void> // downloads what is stored about a user
  removeAll: (of: Chosen) => Promise<void>
  signOutAll: (of: Chosen) => Promise<void>
  links: Links // for setting a password
  tell: (user: T & { password?: string; invitation?: OneTimeLink }) => void // shows what a new user needs to sign in, only once
  run: (job: Job<T>) => void // a batch, one after the other
  panels: ReactNode
}

// usePeople is shared by the users of both realms.
export function usePeople<T extends Person>(realm: Realm, reload: () => Promise<void>): People<T> {
  const { confirm, notify } = useAction()
  const { message } = App.useApp()
  const reset = usePanel<T>()
  const sessions = usePanel<T>()
  const erasing = usePanel<T>()
  const acting = usePanel<T>()
  const secret = usePanel<{ user: T; password: string }>()
  const job = usePanel<Job<T>>()
  const links = useLinks(realm, reload)
  const text = t(realm.texts.remove)

  return {
    reset: reset.show,
    sessions: sessions.show,
    erase: erasing.show,
    act: acting.show,
    unfactor: async (user) => {
      if (!(await confirm({ title: t('people.factor.sure', { name: names([user]) }), text: t('people.factor.text'), ok: t('people.factor') }))) return
      await del(`${realm.path}/${user.id}/factor`)
      notify(t('people.factor.removed', { name: names([user]) }))
      await reload()
    },
    data: async (user) => save(await download(`${realm.path}/${user.id}/data`)),
    links,
    tell: (user) => {
      const { password, invitation } = user
      if (password) secret.show({ user, password })
      else if (invitation?.url) links.show(user, 'invite', invitation)
      else if (invitation?.email) notify(t('people.mailed', { email: invitation.email }))
    },
    run: job.show,
    remove: async (user, leave = (remove) => remove().then(reload)) => {
      if (!(await confirm({ title: t('people.delete.sure', { names: names([user]) }), text, ok: t('delete') }))) return
      await leave(async () => {
        await del(`${realm.path}/${user.id}`)
        notify(t('deleted', { name: names([user]) }))
      })
    },
    removeAll: async ({ query, names: who }) => {
      const { count: n = 0 } = await del(realm.path, { ...query, dry_run: 1 })
      if (!n) return notify(t('people.batch.nothing'))
      const title = who ? t('people.delete.sure', { names: who }) : t('people.delete.all', { n: count(n) })
      if (!(await confirm({ title, text, ok: t('delete') }))) return
      const { count: gone = n, job } = await del(realm.path, query)
      if (job && job.state !== 'done') message.info(t('people.batch.running'))
      notify(t('people.deleted', { n: count(gone) }))
      await reload()
    },
    signOutAll: async ({ query, names: who }) => {
      const path = `${realm.path}-session` as const
      const { count: n } = await del(path, { ...query, dry_run: 1 })
      if (!n) return notify(t('people.sign_out.none'))
      const title = who ? t('people.sign_out.sure', { names: who }) : t('people.sign_out.all', { n: count(n) })
      if (!(await confirm({ title, text: t('sessions.end.lost'), ok: t('sessions.end') }))) return
      notify(t('people.sign_out.done', { n: count((await del(path, query)).count) }))
    },
    panels: (
      <>
        {links.panels}
        <Panel of={reset}>
          {(user, open) => (
            <Reset
              open={open}
              user={user}
              realm={realm}
              onClose={reset.hide}
              onMade={(password) => secret.show({ user, password })}
              onDone={() => void reload()}
            />
          )}
        </Panel>
        <Panel of={erasing}>{(user, open) => <Erase open={open} user={user} realm={realm} onClose={erasing.hide} onDone={() => void reload()} />}</Panel>
        <Panel of={acting}>{(user, open) => <ActAs open={open} user={user} onClose={acting.hide} />}</Panel>
        <Panel of={secret}>
          {({ user, password }, open) => (
            <CopyOnce
              open={open}
              title={t('people.password.of', { name: names([user]) })}
              label={t('sign_in.password')}
              secret={password}
              warning={t('people.password.once')}
              ok={t('people.password.noted')}
              onClose={secret.hide}
              onClosed={secret.forget}
            />
          )}
        </Panel>
        <Panel of={sessions}>{(user, open) => <UserSessions open={open} user={user} realm={realm} onClose={sessions.hide} />}</Panel>
        <Panel of={job}>{(of, open) => <Progress open={open} job={of} onClose={job.hide} onDone={reload} />}</Panel>
      </>
    ),
  }
}
