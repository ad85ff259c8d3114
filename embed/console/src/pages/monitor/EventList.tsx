import { Alert, Button, Card, Empty, Flex, Typography } from 'antd'
import { useMemo } from 'react'
import { useLocation, useNavigate } from 'react-router'
import type { RequestEvent, Stats } from '../../api/types'
import { useAccount } from '../../app/account'
import { t } from '../../i18n'
import { Chart } from '../../ui/Chart'
import { count } from '../../ui/format'
import { OnNode } from '../../ui/OnNode'
import { Records } from '../../ui/Records'
import { useLive } from '../../ui/useLive'
import { useWider } from '../../ui/useWider'
import { wide } from '../../ui/Wide'
import { words } from '../../ui/words'
import { columnsOf } from './columns'
import { Filters } from './Filters'
import type { Kind } from './kinds'
import { Moment } from './parts'
import { Targets } from './redis'
import { inAddress } from './span'
import { SpanBar } from './SpanBar'
import { statsQuery, useTraffic } from './traffic'
import { useEvents } from './useEvents'

// EventList lists the recorded events of one kind.
export function EventList({ kind }: { kind: Kind }) {
  const { may } = useAccount()
  const navigate = useNavigate()
  const here = useLocation()
  const room = { md: useWider('md'), xxl: useWider('xxl') }
  const list = useEvents(kind)
  const { span, set } = list
  const { data: stats, reload: recount } = useLive(
    may('system.monitor.stats') ? '/system/monitor/stats' : '',
    15,
    () => statsQuery(span.from(), span.to),
    span.key,
  )
  const routes = useMemo(
    () => [...new Set(stats?.routes.map((r) => r.route.slice(r.route.indexOf(' ') + 1)).filter((r) => r.startsWith('/')) ?? [])].sort(),
    [stats],
  )
  const from = here.pathname + here.search
  const columns = columnsOf(kind, list.fresh, from, room)
  const reload = async () => void (await Promise.all([list.reload(), recount()]))

  return (
    <>
      <Flex vertical gap={12} style={{ marginBottom: 16 }}>
        <SpanBar span={span} set={set} live={list.live} reload={reload} loading={list.loading} />
        <OnNode node={list.node} />
        {may('system.monitor.stats') && <Counts stats={stats} onRange={(a, b) => set({ ...inAddress(a * 1000, b * 1000), live: undefined })} />}
      </Flex>
      {kind === 'redis' && <Targets />}
      <Filters kind={kind} params={list.params} set={set} narrowed={list.narrowed} clear={list.clear} routes={routes} />
      {list.live && list.failure && <Alert type="warning" showIcon style={{ marginBottom: 16 }} title={words(list.failure)} />}
      <Records<(typeof list.rows)[number]>
        rowKey="id"
        components={wide.components}
        size="small"
        pagination={false}
        tableLayout="fixed"
        columns={columns as never}
        dataSource={list.rows}
        loading={{ spinning: list.loading && !list.live, delay: 200 }}
        scroll={{ x: columns.reduce((sum, c) => sum + Number(c.width ?? 0), 0) }}
        locale={{ emptyText: list.loading ? ' ' : <Nothing list={list} /> }}
        onRow={
          kind === 'request'
            ? (row) => ({
                style: { cursor: 'pointer' },
                onClick: (e) => {
                  if (!(e.target as Element).closest('a, button')) void navigate(`/system/monitor/request/${(row as RequestEvent).id}`, { state: { from } })
                },
              })
            : undefined
        }
      />
      {list.rows.length > 0 && <Further list={list} />}
    </>
  )
}

type List = ReturnType<typeof useEvents>

function Counts({ stats, onRange }: { stats: Stats | undefined; onRange: (from: number, to: number) => void }) {
  const { times, step, counts } = useTraffic(stats)
  return (
    <Card size="small" styles={{ body: { paddingBlock: 8 } }}>
      <Chart label={t('traffic.requests')} kind="stacked" times={times} step={step} series={counts} format={count} height={110} onRange={onRange} />
      <Typography.Text type="secondary" style={{ fontSize: 12 }}>
        {t('monitor.brush')}
      </Typography.Text>
    </Card>
  )
}

function Nothing({ list }: { list: List }) {
  if (list.failure)
    return (
      <Empty image={Empty.PRESENTED_IMAGE_SIMPLE} description={words(list.failure)}>
        <Button onClick={() => void list.reload()}>{t('reload')}</Button>
      </Empty>
    )
  return (
    <Empty image={Empty.PRESENTED_IMAGE_SIMPLE} description={list.until ? <Stopped list={list} /> : list.narrowed ? t('empty.narrowed') : t('monitor.empty')}>
      {list.until && (
        <Button loading={list.loading} onClick={() => void list.more()}>
          {t('monitor.further')}
        </Button>
      )}
    </Empty>
  )
}

// Further shows how far the list goes, and continues it.
function Further({ list }: { list: List }) {
  const rest = list.found > list.rows.length
  return (
    <Flex vertical align="center" gap={8} style={{ padding: 16 }}>
      <Typography.Text type="secondary" role="status">
        {rest
          ? t('monitor.shown', { n: count(list.rows.length), all: count(list.found) })
          : list.until
            ? ''
            : t('monitor.whole', { n: count(list.rows.length) })}
        {list.until && (
          <>
            {' '}
            <Stopped list={list} />
          </>
        )}
      </Typography.Text>
      {(rest || list.until) && (
        <Button loading={list.loading && !list.live} onClick={() => void list.more()}>
          {rest ? t('monitor.more') : t('monitor.further')}
        </Button>
      )}
    </Flex>
  )
}

function Stopped({ list }: { list: List }) {
  const [before, after] = t('monitor.stopped').split('{time}')
  return (
    <>
      {before}
      <Moment at={list.until!} />
      {after}
    </>
  )
}
