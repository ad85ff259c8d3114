import { type TableProps, Tag, Typography } from 'antd'
import { Link } from 'react-router'
import type { AuthEvent, CacheEvent, QueryEvent, RedisRecord, RequestEvent } from '../../api/types'
import { t } from '../../i18n'
import { bytes, count, duration } from '../../ui/format'
import type { Events, Kind } from './kinds'
import { About, Code, Marks, Moment, Sampled, Status, Story, Who } from './parts'
import { redisSays } from './redis'
import { word } from './words'

// Columns of each list. Widths are fixed, so that new rows do not move anything. The main
// columns fit on a screen of 1440 pixels; others need a wider one.

type Columns<T> = NonNullable<TableProps<T>['columns']>

const end = { align: 'end' as const }
const cut = { ellipsis: { showTitle: false } }
const further: Pick<Columns<unknown>[number], 'responsive'> = { responsive: ['xxl'] }

function first<T extends { id: number; recorded_at: string; sampled: number }>(fresh: ReadonlySet<number>): Columns<T> {
  return [
    {
      title: t('time'),
      dataIndex: 'recorded_at',
      width: 132,
      render: (at: string, row) => (
        <>
          <Moment at={at} /> <Sampled times={row.sampled} /> {fresh.has(row.id) && <Tag color="blue">{t('monitor.new')}</Tag>}
        </>
      ),
    },
  ]
}

const who = <T extends { user: RequestEvent['user'] }>(): Columns<T>[number] => ({
  title: t('sign_in.username'),
  key: 'user',
  width: 112,
  ...cut,
  render: (_, row) => <Who user={row.user} />,
})
const story = <T extends { request_id: string }>(): Columns<T>[number] => ({
  title: t('monitor.request'),
  key: 'story',
  width: 76,
  render: (_, row) => <Story id={row.request_id} />,
})
const route = <T extends { route: string }>(): Columns<T>[number] => ({
  title: t('monitor.filter.route'),
  dataIndex: 'route',
  width: 180,
  ...cut,
  render: (text: string) => text && <Code>{text}</Code>,
})
const took = <T,>(name = 'duration_ms', title = t('monitor.duration')): Columns<T>[number] => ({
  title,
  dataIndex: name,
  width: 84,
  ...end,
  render: (ms?: number) => (ms === undefined ? '' : duration(ms)),
})
// spent is a time that most events do not have.
const spent = <T,>(name: string, title: string): Columns<T>[number] => ({
  title,
  dataIndex: name,
  width: 80,
  ...end,
  render: (ms: number) => (ms ? duration(ms) : <Typography.Text type="secondary">—</Typography.Text>),
})

function request(from: string): Columns<RequestEvent> {
  return [
    { title: t('monitor.filter.method'), dataIndex: 'method', width: 76 },
    {
      title: t('monitor.uri'),
      dataIndex: 'uri',
      width: 232,
      ...cut,
      render: (uri: string, row) => (
        <Link to={`/system/monitor/request/${row.id}`} state={{ from }}>
          <Code>{uri}</Code>
        </Link>
      ),
    },
    {
      title: t('status'),
      dataIndex: 'status',
      width: 144,
      ...cut,
      render: (status: number, row) => (
        <>
          <Status status={status} />{' '}
          {row.error && (
            <Typography.Text type="secondary" title={row.message}>
              {row.error}
            </Typography.Text>
          )}
        </>
      ),
    },
    {
      ...took<RequestEvent>(),
      width: 112,
      render: (ms: number, row) => (
        <>
          <Marks slow={row.slow} /> {duration(ms)}
        </>
      ),
    },
    spent('store_ms', t('monitor.store')),
    { title: t('monitor.events'), dataIndex: 'events', width: 66, ...end, render: count },
    { title: t('monitor.answer'), dataIndex: 'bytes_out', width: 84, ...end, render: bytes },
    who(),
    { title: t('address'), dataIndex: 'address', width: 114, ...cut },
  ]
}

function auth(): Columns<AuthEvent> {
  const colors: Record<string, string> = { success: 'success', allowed: 'success', failed: 'error', denied: 'error' }
  return [
    { title: t('monitor.filter.type'), dataIndex: 'type', width: 108, render: (type: string) => word('type', type) },
    { title: t('sign_in.username'), dataIndex: 'username', width: 112, ...cut, render: (_, row) => <About event={row} /> },
    {
      title: t('monitor.filter.result'),
      dataIndex: 'result',
      width: 152,
      ...cut,
      render: (result: string, row) => (
        <>
          <Tag color={colors[result]}>{word('result', result)}</Tag>{' '}
          {row.reason && row.reason !== row.result && (
            <Typography.Text type="secondary" title={row.reason}>
              {row.reason}
            </Typography.Text>
          )}
        </>
      ),
    },
    { title: t('monitor.filter.ability'), dataIndex: 'ability', width: 172, ...cut, render: (text: string) => text && <Code>{text}</Code> },
    {
      title: t('monitor.matched_by'),
      dataIndex: 'matched_by',
      width: 106,
      ...cut,
      render: (roles: string[]) => <bdi title={roles.join(', ')}>{roles.join(', ')}</bdi>,
    },
    { title: t('address'), dataIndex: 'address', width: 114, ...cut },
    route(),
    story(),
  ]
}

function query(): Columns<QueryEvent> {
  return [
    {
      title: t('monitor.filter.statement'),
      dataIndex: 'statement',
      width: 300,
      ...cut,
      render: (text: string, row) => (
        <>
          <Marks slow={row.slow} repeated={row.n_plus_one} /> <Code>{text}</Code>
        </>
      ),
    },
    { title: t('monitor.filter.plan'), dataIndex: 'plan', width: 68 },
    took(),
    spent('wait_ms', t('monitor.wait')),
    spent('commit_ms', t('monitor.commit')),
    { title: t('monitor.rows'), key: 'rows', width: 104, ...end, render: (_, row) => `${count(row.returned)} / ${count(row.examined)}` },
    { title: t('monitor.bytes'), dataIndex: 'bytes', width: 84, ...end, render: bytes },
    { title: t('monitor.caller'), dataIndex: 'caller', width: 180, ...cut, ...further, render: (text: string) => <Code>{text}</Code> },
    { title: t('monitor.filter.connection'), dataIndex: 'connection', width: 100, ...further },
    who(),
    { ...route(), ...further },
    story(),
  ]
}

function cache(): Columns<CacheEvent> {
  return [
    { title: t('monitor.filter.cache'), dataIndex: 'cache', width: 140 },
    { title: t('monitor.filter.type'), dataIndex: 'type', width: 120, render: (type: string) => word('type', type) },
    { title: t('monitor.count'), dataIndex: 'count', width: 76, ...end, render: count },
    { title: t('monitor.key'), dataIndex: 'key', width: 140, ...cut, render: (text: string) => text && <Code>{text}</Code> },
    { title: t('monitor.entries'), dataIndex: 'size', width: 84, ...end, render: (n: number) => (n ? count(n) : '—') },
    { title: t('monitor.generation'), dataIndex: 'generation', width: 104, ...end, render: (n: number) => (n ? count(n) : '—') },
    took(),
    who(),
    { ...route(), ...further },
    story(),
  ]
}

function redis(): Columns<RedisRecord> {
  return [
    {
      title: t('monitor.filter.connection'),
      dataIndex: 'connection',
      width: 132,
      ...cut,
      render: (name: string) => <bdi>{name}</bdi>,
    },
    { title: t('monitor.filter.type'), dataIndex: 'type', width: 120, render: (type: string) => word('type', type) },
    { title: t('redis.what'), key: 'what', width: 320, ...cut, render: (_, row) => redisSays(row) },
    { title: t('redis.calls'), dataIndex: 'calls', width: 76, ...end, render: (n?: number) => (n === undefined ? '' : count(n)) },
    { title: t('redis.each'), dataIndex: 'usec_per_call', width: 100, ...end, render: (n?: number) => (n === undefined ? '' : duration(n / 1000)) },
    took(),
    { title: t('redis.client'), dataIndex: 'client', width: 160, ...cut, ...further },
    who(),
    story(),
  ]
}

const own = { request, auth, query, cache, redis }

// columnsOf returns a list's columns for a screen; from is the URL of the list. If there
// is room, the time and the link to the request stay fixed while scrolling.
export function columnsOf<K extends Kind>(kind: K, fresh: ReadonlySet<number>, from: string, { md, xxl }: { md: boolean; xxl: boolean }): Columns<Events[K]> {
  const columns = [...first<Events[K]>(fresh), ...(own[kind](from) as Columns<Events[K]>)].filter((c) => xxl || !c.responsive)
  if (!md) return columns
  return columns.map((c, i) => (i === 0 ? { ...c, fixed: 'start' } : c.key === 'story' ? { ...c, fixed: 'end' } : c))
}
