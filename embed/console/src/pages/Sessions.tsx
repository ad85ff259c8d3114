import { App, Button, Popconfirm, Table, Tag } from 'antd'
import { del } from '../api/request'
import type { Session } from '../api/types'
import { useAccount } from '../app/account'
import { t } from '../i18n'
import { Bar } from '../ui/Bar'
import { Time } from '../ui/Time'
import { useTable } from '../ui/useTable'

// Sessions is who is signed in; who may can force somebody out.
export function Sessions() {
  const { may } = useAccount()
  const { message } = App.useApp()
  const list = useTable<Session>('/system/session')

  async function end(session: Session) {
    await del(`/system/session/${session.id}`)
    void message.success(t('sessions.ended', { name: session.username }))
    await list.reload()
  }

  return (
    <>
      <Bar title={t('menu.system.session')} list={list} search={false} />
      <Table
        {...list.table}
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
            title: '', key: 'actions', align: 'end',
            render: (_, s) => may('system.session.delete') && s.current !== 1 && (
              <Popconfirm title={t('sessions.end.sure', { name: s.username })} onConfirm={() => end(s)}>
                <Button danger size="small">{t('sessions.end')}</Button>
              </Popconfirm>
            ),
          },
        ]}
      />
    </>
  )
}
