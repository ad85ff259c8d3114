import { Button } from 'antd'
import { del, get } from '../../api/request'
import type { Session } from '../../api/types'
import { t } from '../../i18n'
import { Actions } from '../../ui/Actions'
import { List } from '../../ui/List'
import { useAct } from '../../ui/useAct'
import { useTable } from '../../ui/useTable'
import { device, sessionColumns } from '../session-columns'

// OwnSessions lists the user's sessions and ends the others.
export function OwnSessions() {
  const { sure, done } = useAct()
  const list = useTable<Session>('/admin/session')

  async function end(session: Session) {
    const name = device(session) || session.ip
    if (!(await sure({ title: t('account.end'), text: t('account.end.sure', { name }), ok: t('account.end') }))) return
    await del(`/admin/session/${session.id}`)
    done(t('account.ended', { name }))
    await list.reload()
  }

  async function endOthers() {
    const all = await get('/admin/session', { pageSize: 1000 })
    const others = all.data.filter((session) => session.current !== 1)
    if (!(await sure({ title: t('account.end_others'), text: t('account.end_others.sure', { n: others.length }), ok: t('account.end_others') }))) return
    try {
      for (const session of others) await del(`/admin/session/${session.id}`)
      done(t('account.ended_others', { n: others.length }))
    } finally {
      await list.reload()
    }
  }

  return (
    <List
      list={list}
      search={false}
      actions={list.total > 1 && <Button onClick={() => void endOthers()}>{t('account.end_others')}</Button>}
      columns={[
        ...sessionColumns().slice(1),
        {
          title: t('actions'),
          key: 'actions',
          align: 'end',
          fixed: 'end',
          render: (_, session) => <Actions first={session.current !== 1 && { label: t('account.end'), onClick: () => void end(session) }} />,
        },
      ]}
    />
  )
}
