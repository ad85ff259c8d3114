import { Button, Tag } from 'antd'
import { del } from '../api/request'
import type { Session } from '../api/types'
import { useAccount } from '../app/account'
import { t } from '../i18n'
import { List } from '../ui/List'
import { Time } from '../ui/Time'
import { useAct } from '../ui/useAct'
import { useTable } from '../ui/useTable'

// Sessions is who is signed in; who may can force somebody out.
export function Sessions() {
  const { may } = useAccount()
  const { sure, done } = useAct()
  const list = useTable<Session>('/system/session')

  async function end(session: Session) {
    if (!(await sure({ title: t('sessions.end'), text: t('sessions.end.sure', { name: session.username }), ok: t('sessions.end') }))) return
    await del(`/system/session/${session.id}`)
    done(t('sessions.ended', { name: session.username }))
    await list.reload()
  }

  return (
    <List
      title={t('menu.system.session')} list={list} search={false}
      columns={[
        {
          title: t('sign_in.username'), dataIndex: 'username',
          render: (name: string, s) => <>{name} {s.app_user_id > 0 && <Tag>{t('sessions.app')}</Tag>}{s.current === 1 && <Tag color="blue">{t('sessions.current')}</Tag>}</>,
        },
        { title: t('address'), dataIndex: 'ip' },
        { title: t('device'), render: (_, s) => [s.browser, s.os].filter(Boolean).join(', ') },
        { title: t('sessions.begun'), dataIndex: 'created_at', render: (at: string) => <Time at={at} /> },
        { title: t('sessions.used'), dataIndex: 'last_used', render: (at: string) => <Time at={at} /> },
        {
          title: t('actions'), key: 'actions', align: 'end',
          render: (_, s) => may('system.session.delete') && s.current !== 1 && (
            <Button danger size="small" onClick={() => void end(s)}>{t('sessions.end')}</Button>
          ),
        },
      ]}
    />
  )
}
