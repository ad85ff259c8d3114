import { Button } from 'antd'
import { useNavigate } from 'react-router'
import { del } from '../api/request'
import type { Session } from '../api/types'
import { useAccount } from '../app/account'
import { t } from '../i18n'
import { Actions, actionsColumn } from '../ui/Actions'
import { Finder } from '../ui/Finder'
import { List } from '../ui/List'
import { activity } from '../ui/log/address'
import { useAction } from '../ui/useAction'
import { useTable } from '../ui/useTable'
import { sessionColumns } from './session-columns'

// Sessions lists the open sessions, and ends them with permission.
export function Sessions() {
  const { may } = useAccount()
  const { confirm, notify } = useAction()
  const navigate = useNavigate()
  const list = useTable<Session>('/system/session')
  const filter = (name: 'user_id' | 'app_user_id') => ({
    value: Number(list.params.get(name)) || undefined,
    // A session belongs to a user or an app user; filtering by both would match none.
    onChange: (id?: number) => list.set({ user_id: undefined, app_user_id: undefined, [name]: id ? String(id) : undefined }),
  })

  async function end(session: Session) {
    if (!(await confirm({ title: t('sessions.end'), text: <bdi>{t('sessions.end.sure', { name: session.username })}</bdi>, ok: t('sessions.end') }))) return
    await del(`/system/session/${session.id}`)
    notify(t('sessions.ended', { name: session.username }))
    await list.reload()
  }

  async function endAll(some: Session[]) {
    if (!(await confirm({ title: t('sessions.end.several', { n: some.length }), text: t('sessions.end.lost'), ok: t('sessions.end') }))) return
    await del('/system/session', { ids: some.map(({ id }) => id).join(',') })
    notify(t('sessions.ended.several', { n: some.length }))
    await list.reload()
  }

  return (
    <List<Session>
      title={t('menu.system.session')}
      list={list}
      search={false}
      empty={t('sessions.empty')}
      create={false}
      filters={
        <>
          <Finder of="user" label={t('loginlog.user')} {...filter('user_id')} />
          <Finder of="app_user" label={t('sessions.app_user')} {...filter('app_user_id')} />
        </>
      }
      batch={
        may('system.session.delete')
          ? (chosen) => {
              const others = chosen.filter((session) => session.current !== 1)
              return (
                <Button disabled={others.length === 0} onClick={() => void endAll(others)}>
                  {t('sessions.end')}
                </Button>
              )
            }
          : undefined
      }
      columns={[
        ...sessionColumns(),
        actionsColumn((session) => (
          <Actions
            first={may('system.session.delete') && session.current !== 1 && { label: t('sessions.end'), onClick: () => void end(session) }}
            label={t('more.of', { name: session.username })}
            more={[may('system.audit.query') && { label: t('menu.system.audit'), onClick: () => void navigate(during(session)) }]}
          />
        )),
      ]}
    />
  )
}

// during is what the person did since the session began.
const during = ({ user_id, app_user_id, created_at, last_used }: Session): string =>
  activity({
    actor: user_id ? `user:${user_id}` : `app_user:${app_user_id}`,
    'at[]': [created_at, new Date(new Date(last_used).getTime() + 60_000).toISOString()],
  })
