import { theme } from 'antd'
import { useMemo } from 'react'
import type { Query } from '../../api/request'
import type { Stats, StatsPoint } from '../../api/types'
import { t } from '../../i18n'
import type { Series } from '../../ui/series'
import { count, duration, percent } from '../../ui/format'

// Data of the request charts.

const hour = 3600
const steps = [60, 300, 600, 900, 1800, hour, 3 * hour, 6 * hour, 12 * hour, 24 * hour]

// statsQuery requests the counts of a period in about a hundred steps. Beyond three days
// only hourly counts exist.
export function statsQuery(from: number, to = Date.now()): Query {
  const seconds = (to - from) / 1000
  const least = from < Date.now() - 3 * 24 * hour * 1000 ? hour : 60
  const step = steps.find((s) => s >= least && seconds / s <= 180) ?? steps.at(-1)
  return { from: new Date(from).toISOString(), to: new Date(to).toISOString(), step }
}

type Filled = { times: number[]; step: number; points: (StatsPoint | undefined)[] }

// filled adds the steps without requests to the series.
function filled(stats: Stats | undefined): Filled {
  if (!stats) return { times: [], step: 60, points: [] }
  const seconds = (at: string) => Math.floor(new Date(at).getTime() / 1000)
  const known = new Map(stats.series.map((p) => [seconds(p.time), p]))
  const times: number[] = []
  const end = seconds(stats.to)
  for (let at = Math.floor(seconds(stats.from) / stats.step) * stats.step; at <= end; at += stats.step) times.push(at)
  return { times, step: stats.step, points: times.map((at) => known.get(at)) }
}

// useTraffic turns statistics into series of requests by outcome and of response times.
// The theme's colors have a shade that is visible on light and on dark.
export function useTraffic(stats: Stats | undefined) {
  const { token } = theme.useToken()
  return useMemo(() => {
    const { times, step, points } = filled(stats)
    const all = stats?.total
    const part = (n: number) => (all ? (n && n < all.requests ? `${count(n)} (${percent(n, all.requests)})` : count(n)) : '')
    const counts: Series[] = [
      { label: t('traffic.ok'), color: token.blue7, values: points.map((p) => p?.ok ?? 0), whole: all ? part(all.ok) : '' },
      { label: t('traffic.refused'), color: token.orange7, values: points.map((p) => p?.refused ?? 0), whole: all ? part(all.refused) : '' },
      { label: t('traffic.failed'), color: token.red7, values: points.map((p) => p?.failed ?? 0), whole: all ? part(all.failed) : '' },
    ]
    const whole = (ms: number | undefined) => (all?.requests ? duration(ms ?? 0) : '—')
    const latency: Series[] = [
      { label: 'p50', color: token.blue7, values: points.map((p) => p?.p50_ms ?? null), whole: whole(all?.p50_ms) },
      { label: 'p95', color: token.purple7, dash: [6, 3], values: points.map((p) => p?.p95_ms ?? null), whole: whole(all?.p95_ms) },
      { label: 'p99', color: token.orange7, dash: [2, 3], values: points.map((p) => p?.p99_ms ?? null), whole: whole(all?.p99_ms) },
    ]
    return { times, step, counts, latency }
  }, [stats, token])
}
