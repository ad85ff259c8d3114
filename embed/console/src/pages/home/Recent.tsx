import { Card, Table, Tag, Typography } from 'antd'
import type { ReactNode } from 'react'
import { Link } from 'react-router'
import type { Listing } from '../../api/paths'
import type { Failure } from '../../api/request'
import type { AuthEvent, LoginLog } from '../../api/types'
import { type Key, maybe, t } from '../../i18n'
import { PersonLink } from '../../ui/PersonLink'
import { Time } from '../../ui/Time'
import { useLive } from '../../ui/useLive'
import { wide } from '../../ui/Wide'
import { words } from '../../ui/words'
import { About } from '../monitor/parts'
import { within } from '../monitor/span'

const results: Record<string, string> = { success: 'success', failed: 'error', throttled: 'warning' }

// Half is a card that shares its row if there is room.
export function Half({ title, to, loading, failure, children }: { title: string; to?: string; loading: boolean; failure?: Failure; children: ReactNode }) {
  return (
    <Card
      title={title}
      extra={
        to && (
          <Link to={to} aria-label={`${t('home.all')}: ${title}`}>
            {t('home.all')}
          </Link>
        )
      }
      loading={loading && !failure}
      style={{ flex: '1 1 440px', minWidth: 0 }}
    >
      {loading && failure ? words(failure) : children}
    </Card>
  )
}

// SignIns are the latest sign-ins of everyone, or of the user.
export function SignIns({ title, path, to }: { title: string; path: Listing<LoginLog>; to?: string }) {
  const { data, failure } = useLive(path, 120, () => ({ pageSize: 6 }))
  return (
    <Half title={title} to={to} loading={!data} failure={failure}>
      <Table<LoginLog>
        size="small"
        rowKey="id"
        pagination={false}
        dataSource={data?.data}
        {...wide}
        locale={{ emptyText: t('none') }}
        columns={[
          { title: t('time'), dataIndex: 'created_at', render: (at: string) => <Time at={at} /> },
          { title: t('sign_in.username'), dataIndex: 'username', ellipsis: true, render: (name: string, row) => <PersonLink name={name} id={row.user_id} /> },
          {
            title: t('loginlog.result'),
            dataIndex: 'result',
            render: (result: string, row) => (
              <Tag color={results[result]} title={maybe(`loginlog.reason.${row.reason}`)}>
                {t(`loginlog.${result}` as Key)}
                {row.count > 1 ? ` × ${row.count}` : ''}
              </Tag>
            ),
          },
          { title: t('address'), dataIndex: 'ip' },
        ]}
      />
    </Half>
  )
}

const back = 24 * 3_600_000

// Denials are the latest access denials.
export function Denials() {
  const { data, failure } = useLive('/system/monitor/auth', 30, () => ({ ...within(Date.now() - back), result: 'denied', pageSize: 6 }))
  return (
    <Half title={t('home.denials')} to="/system/monitor/auth?span=24h&result=denied" loading={!data} failure={failure}>
      <Table<AuthEvent>
        size="small"
        rowKey="id"
        pagination={false}
        dataSource={data?.data}
        {...wide}
        locale={{ emptyText: t('home.denials.none') }}
        columns={[
          { title: t('time'), dataIndex: 'recorded_at', render: (at: string) => <Time at={at} /> },
          { title: t('sign_in.username'), dataIndex: 'username', ellipsis: true, render: (_, event) => <About event={event} /> },
          {
            title: t('monitor.filter.ability'),
            dataIndex: 'ability',
            ellipsis: true,
            render: (text: string) => <Typography.Text title={text}>{text || '—'}</Typography.Text>,
          },
          { title: t('address'), dataIndex: 'address' },
        ]}
      />
    </Half>
  )
}
