import { Button, Drawer, Empty, Flex, Tag, Typography } from 'antd'
import { useRef } from 'react'
import { del } from '../../api/request'
import type { Session } from '../../api/types'
import { useAccount } from '../../app/account'
import { t } from '../../i18n'
import { Actions, actionsColumn } from '../../ui/Actions'
import { Records } from '../../ui/Records'
import { Time } from '../../ui/Time'
import { pageButtons } from '../../ui/page-buttons'
import { useWider } from '../../ui/useWider'
import { wide } from '../../ui/Wide'
import { useAction } from '../../ui/useAction'
import { useGet } from '../../ui/useGet'
import { names, type Person } from './person'
import type { Realm } from './realm'

type Props = { open: boolean; user: Person; realm: Realm; onClose: () => void }

// UserSessions shows a user's sessions.
export function UserSessions({ open, user, realm, onClose }: Props) {
  const md = useWider('md')
  return (
    <Drawer title={t('people.sessions.of', { name: names([user]) })} open={open} onClose={onClose} size={md ? 640 : '100%'} destroyOnHidden>
      <Sessions user={user} realm={realm} />
    </Drawer>
  )
}

// Sessions lists a user's sessions and ends them.
export function Sessions({ user, realm }: { user: Person; realm: Realm }) {
  const { may } = useAccount()
  const { confirm, notify } = useAction()
  const { data, loading, reload } = useGet('/system/session', { [realm.owner]: user.id, pageSize: 1000 })
  const others = data?.data.filter((s) => s.current !== 1) ?? []
  const name = names([user])
  const box = useRef<HTMLDivElement>(null) // gets the focus when the focused button disappears

  async function end(sessions: Session[]) {
    const [title, text] =
      sessions.length === 1 ? [t('sessions.end'), t('people.sessions.end.text', { name })] : [t('people.sessions.all'), t('people.sessions.all.text', { name })]
    if (!(await confirm({ title, text, ok: title }))) return
    try {
      await del('/system/session', { ids: sessions.map(({ id }) => id).join(',') })
      notify(sessions.length === 1 ? t('people.sessions.ended') : t('sessions.ended', { name }))
    } finally {
      await reload()
      box.current?.focus()
    }
  }

  return (
    <Flex vertical gap={16} ref={box} tabIndex={-1} style={{ outline: 'none' }}>
      {may('system.session.delete') && others.length > 1 && (
        <Button style={{ alignSelf: 'end' }} onClick={() => void end(others)}>
          {t('people.sessions.all')}
        </Button>
      )}
      <Records<Session>
        rowKey="id"
        size="middle"
        dataSource={data?.data}
        loading={loading && !data}
        {...wide}
        pagination={{ hideOnSinglePage: true, itemRender: pageButtons, showSizeChanger: false }}
        locale={{ emptyText: data ? <Empty image={Empty.PRESENTED_IMAGE_SIMPLE} description={t('people.sessions.none')} /> : ' ' }}
        columns={[
          {
            title: t('device'),
            render: (_, s) => (
              <Flex vertical>
                <span>
                  {[s.browser, s.os].filter(Boolean).join(', ') || '—'} {s.current === 1 && <Tag color="blue">{t('sessions.current')}</Tag>}
                </span>
                <Typography.Text type="secondary">{s.ip}</Typography.Text>
              </Flex>
            ),
          },
          { title: t('sessions.begun'), dataIndex: 'created_at', render: (at: string) => <Time at={at} /> },
          { title: t('sessions.used'), dataIndex: 'last_used', render: (at: string) => <Time at={at} /> },
          actionsColumn((s) => (
            <Actions first={may('system.session.delete') && s.current !== 1 && { label: t('sessions.end'), onClick: () => void end([s]) }} />
          )),
        ]}
      />
    </Flex>
  )
}
