import { Badge, Card, Descriptions, Flex, Tag, Typography } from 'antd'
import { useMemo } from 'react'
import type { RedisInfo, RedisRecord } from '../../api/types'
import { t } from '../../i18n'
import { bytes, count, percent } from '../../ui/format'
import { sentence } from '../../ui/sentence'
import { Time } from '../../ui/Time'
import { useLive } from '../../ui/useLive'
import { Code } from './parts'
import { within } from './span'

// redisSays summarizes a Redis event on one line.
export function redisSays(row: RedisRecord) {
  if (row.type === 'state') {
    return (
      <>
        <Tag color={row.state === 'up' ? 'success' : 'error'}>{row.state === 'up' ? t('redis.up') : t('redis.down')}</Tag>{' '}
        <span title={row.error}>{row.error}</span>
      </>
    )
  }
  if (row.info)
    return <>{t('redis.info', { ops: count(row.info.ops_per_second), memory: bytes(row.info.used_memory), clients: count(row.info.connected_clients) })}</>
  return <Code>{[row.command, row.type === 'slowlog' ? row.key : ''].filter(Boolean).join(' ')}</Code>
}

// A monitored server reports at least once a minute.
const back = 5 * 60_000

const place = { flex: '1 1 280px', maxWidth: 420, minWidth: 0 }

// Targets are the monitored Redis servers with their last state.
export function Targets() {
  const query = () => ({ ...within(Date.now() - back), pageSize: 200, filter: JSON.stringify({ type: ['state', 'info'] }) })
  const { data } = useLive('/system/monitor/redis', 10, query, 'states')
  const targets = useMemo(() => {
    const latest = new Map<string, RedisRecord>()
    for (const row of data?.data ?? []) if (!latest.has(row.connection)) latest.set(row.connection, row) // the newest comes first
    return [...latest.values()].sort((a, b) => a.connection.localeCompare(b.connection))
  }, [data])
  if (!data) return null
  if (targets.length === 0) return <Typography.Paragraph type="secondary">{t('redis.none')}</Typography.Paragraph>
  return (
    <Flex component="ul" gap={12} wrap style={{ margin: '0 0 16px', padding: 0, listStyle: 'none' }} aria-label={t('redis.targets')}>
      {targets.map((row) => (
        <li key={row.connection} style={place}>
          <Target row={row} />
        </li>
      ))}
    </Flex>
  )
}

function Target({ row }: { row: RedisRecord }) {
  const down = row.type === 'state' && row.state !== 'up'
  return (
    <Card
      size="small"
      style={{ height: '100%' }}
      title={<bdi>{row.connection}</bdi>}
      extra={<Badge status={down ? 'error' : 'success'} text={down ? t('redis.down') : t('redis.up')} />}
    >
      {row.info ? (
        <Figures info={row.info} />
      ) : (
        <Typography.Paragraph style={{ margin: 0, overflowWrap: 'anywhere' }}>{sentence(row.error ?? '')}</Typography.Paragraph>
      )}
      <Typography.Text type="secondary" style={{ fontSize: 12 }}>
        <Time at={row.recorded_at} />
      </Typography.Text>
    </Card>
  )
}

function Figures({ info }: { info: RedisInfo }) {
  const keys = Object.values(info.keys).reduce((sum, n) => sum + n, 0)
  return (
    <Descriptions
      size="small"
      column={2}
      styles={{ content: { fontVariantNumeric: 'tabular-nums' } }}
      items={[
        { label: t('info.version'), children: `${info.version}, ${info.role}` },
        { label: t('redis.memory'), children: info.maxmemory ? `${bytes(info.used_memory)} / ${bytes(info.maxmemory)}` : bytes(info.used_memory) },
        { label: t('redis.ops'), children: count(info.ops_per_second) },
        { label: t('redis.clients'), children: count(info.connected_clients) },
        { label: t('redis.hit_rate'), children: info.hit_rate === null ? '—' : percent(info.hit_rate, 1) },
        { label: t('redis.keys'), children: count(keys) },
      ]}
    />
  )
}
