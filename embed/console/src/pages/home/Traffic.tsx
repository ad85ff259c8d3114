import { Alert, Card, Flex, Segmented, Table } from 'antd'
import { useCallback } from 'react'
import { Link, useNavigate } from 'react-router'
import type { Stats, StatsRoute, StatsUser } from '../../api/types'
import { useAccount } from '../../app/account'
import { type Key, t } from '../../i18n'
import { Chart } from '../../ui/Chart'
import { count, duration, percent } from '../../ui/format'
import { PersonLink } from '../../ui/PersonLink'
import { pageButtons } from '../../ui/page-buttons'
import { useLive } from '../../ui/useLive'
import { useQueryParams } from '../../ui/useQueryParams'
import { wide } from '../../ui/Wide'
import { words } from '../../ui/words'
import { inAddress } from '../monitor/span'
import { statsQuery, useTraffic } from '../monitor/traffic'
import { type Tile, Tiles } from './Tiles'

const spans = { '1h': 1, '24h': 24, '7d': 7 * 24, '90d': 90 * 24 } as const
type Name = keyof typeof spans

const least = 15 * 60_000

// startOf is the start of a period, but not long before the installation was created.
const startOf = (span: Name, installed: number) => Math.max(Date.now() - spans[span] * 3_600_000, Math.min(installed, Date.now() - least))

// useSpan is the period of the dashboard, kept in the URL.
function useSpan(): [Name, (name: Name) => void] {
  const { params, set } = useQueryParams()
  const name = params.get('span') ?? ''
  return [name in spans ? (name as Name) : '24h', (to) => set({ span: to })]
}

// Traffic shows the number of requests, their outcome and response times.
export function Traffic({ tiles }: { tiles: Tile[] }) {
  const { may, info } = useAccount()
  const navigate = useNavigate()
  const [span, setSpan] = useSpan()
  const { data: stats, failure } = useLive('/system/monitor/stats', 15, () => statsQuery(startOf(span, Date.parse(info.installed_at))), span)
  const { times, step, counts, latency } = useTraffic(stats)
  const look = useCallback(
    (from: number, to: number) => {
      const part = inAddress(from * 1000, to * 1000)
      void navigate(`/system/monitor/request?${new URLSearchParams({ from: part.from, to: part.to })}`)
    },
    [navigate],
  )
  const brush = may('system.monitor.request') ? look : undefined
  const since = stats && new URLSearchParams({ from: stats.from, to: stats.to }).toString()

  return (
    <>
      <Flex wrap gap={8} justify="space-between" align="center">
        <Segmented
          value={span}
          aria-label={t('monitor.span')}
          onChange={setSpan}
          options={(Object.keys(spans) as Name[]).map((name) => ({ value: name, label: t(`home.span.${name}` as Key) }))}
        />
        {failure && <span role="status">{words(failure)}</span>}
      </Flex>
      <Tiles tiles={[...numbersOf(stats), ...tiles]} />
      {stats && stats.dropped > 0 && <Alert type="info" showIcon title={t('home.dropped', { n: count(stats.dropped) })} />}
      <Flex wrap gap={16}>
        <Card title={t('traffic.requests')} style={{ flex: '1 1 440px', minWidth: 0 }}>
          <Chart label={t('traffic.requests')} kind="stacked" times={times} step={step} series={counts} format={count} onRange={brush} />
        </Card>
        <Card title={t('traffic.latency')} style={{ flex: '1 1 440px', minWidth: 0 }}>
          <Chart label={t('traffic.latency')} kind="lines" times={times} step={step} series={latency} format={duration} onRange={brush} />
        </Card>
      </Flex>
      <Flex wrap gap={16}>
        <RoutesCard routes={stats?.routes} since={may('system.monitor.request') ? since : undefined} failed={!!failure} />
        <UsersCard users={stats?.users} failed={!!failure} />
      </Flex>
    </>
  )
}

function numbersOf(stats: Stats | undefined): Tile[] {
  const all = stats?.total
  const some = all !== undefined && all.requests > 0
  const perMinute = all && stats ? all.requests / Math.max(1, (Date.parse(stats.to) - Date.parse(stats.from)) / 60_000) : 0
  return [
    {
      label: t('traffic.requests'),
      value: all && count(all.requests),
      more: all && t('home.per_minute', { n: perMinute < 10 ? perMinute.toFixed(1) : count(Math.round(perMinute)) }),
    },
    {
      label: t('traffic.failed'),
      value: all && count(all.failed),
      more: some && t('home.of_all', { part: percent(all.failed, all.requests) }),
      bad: all !== undefined && all.failed > 0,
    },
    { label: t('traffic.refused'), value: all && count(all.refused), more: some && t('home.of_all', { part: percent(all.refused, all.requests) }) },
    {
      label: t('home.p95'),
      value: some ? duration(all.p95_ms) : '—',
      more: some && t('home.p50_p99', { p50: duration(all.p50_ms), p99: duration(all.p99_ms) }),
    },
  ]
}

const rows = 10
const numbers = { fontVariantNumeric: 'tabular-nums' } as const

function RoutesCard({ routes, since, failed }: { routes: StatsRoute[] | undefined; since: string | undefined; failed: boolean }) {
  const address = (name: string) => {
    const [method, path] = name.split(' ')
    return `/system/monitor/request?${since}&${new URLSearchParams({ method: method!, route: path! })}`
  }
  const by = (key: 'requests' | 'failed' | 'mean_ms' | 'slowest_ms') => ({
    dataIndex: key,
    align: 'end' as const,
    sorter: (a: StatsRoute, b: StatsRoute) => a[key] - b[key],
    sortDirections: ['descend' as const, 'ascend' as const],
  })
  return (
    <Card title={t('home.routes')} style={{ flex: '2 1 480px', minWidth: 0 }} loading={!routes && !failed}>
      <Table<StatsRoute>
        size="small"
        rowKey="route"
        pagination={{ pageSize: rows, hideOnSinglePage: true, itemRender: pageButtons, size: 'small', showSizeChanger: false }}
        dataSource={routes}
        {...wide}
        style={numbers}
        locale={{ emptyText: routes ? t('chart.empty') : ' ' }}
        columns={[
          {
            title: t('monitor.filter.route'),
            dataIndex: 'route',
            render: (name: string) => (since && name.includes(' /') ? <Link to={address(name)}>{name}</Link> : name),
          },
          { title: t('traffic.requests'), ...by('requests'), render: count },
          { title: t('home.unwell'), ...by('failed'), render: count },
          { title: t('home.mean'), ...by('mean_ms'), render: duration },
          { title: t('home.slowest'), ...by('slowest_ms'), render: duration },
        ]}
      />
    </Card>
  )
}

function UsersCard({ users, failed }: { users: StatsUser[] | undefined; failed: boolean }) {
  return (
    <Card title={t('home.users')} style={{ flex: '1 1 280px', minWidth: 0 }} loading={!users && !failed}>
      <Table<StatsUser>
        size="small"
        rowKey={(u) => `${u.realm} ${u.username}`}
        pagination={{ pageSize: rows, hideOnSinglePage: true, itemRender: pageButtons, size: 'small', showSizeChanger: false }}
        dataSource={users}
        style={numbers}
        tableLayout="fixed"
        locale={{ emptyText: users ? t('chart.empty') : ' ' }}
        columns={[
          {
            title: t('sign_in.username'),
            dataIndex: 'username',
            ellipsis: true,
            render: (name: string, u) => (
              <>
                <PersonLink name={name} app={u.realm === 'app'} />
                {u.realm === 'app' && ` (${t('sessions.app')})`}
              </>
            ),
          },
          { title: t('traffic.requests'), dataIndex: 'requests', align: 'end', width: 100, render: count },
        ]}
      />
    </Card>
  )
}
