import { BarChartOutlined, TableOutlined } from '@ant-design/icons'
import { Button, Flex, Table, theme, Typography } from 'antd'
import dayjs from 'dayjs'
import { lazy, memo, Suspense, useCallback, useState } from 'react'
import { t } from '../i18n'
import type { ChartProps, Series } from './series'

const Plot = memo(lazy(() => import('./Plot')))

// Chart shows values over time: as a picture, as text under the pointer, and as a table
// for screen readers.
export function Chart({ label, kind, times, step, series, format, height = 220, onRange }: ChartProps) {
  const { token } = theme.useToken()
  const [hovered, setHovered] = useState<number | null>(null)
  const [asTable, setAsTable] = useState(false)
  const onHover = useCallback((at: number | null) => setHovered(at), [])
  const at = hovered !== null && hovered < times.length ? hovered : null
  const empty = series.every((s) => s.values.every((v) => !v))
  const clock = (seconds: number) => dayjs.unix(seconds).format(step >= 86_400 ? 'YYYY-MM-DD' : 'MM-DD HH:mm')
  const textOf = (s: Series, i: number) => (s.values[i] === null ? '—' : format(s.values[i]!))
  const span = times.length ? `${clock(times[0]!)} – ${clock(times.at(-1)! + step)}` : ''

  return (
    <div>
      <Flex gap={8} align="start">
        <Flex wrap gap="4px 16px" align="center" style={{ flex: 1, minWidth: 0, minHeight: 32, fontVariantNumeric: 'tabular-nums' }}>
          {series.map((s) => (
            <span key={s.label} style={{ whiteSpace: 'nowrap' }}>
              <Swatch series={s} kind={kind} /> <Typography.Text type="secondary">{s.label}</Typography.Text> {at === null ? s.whole : textOf(s, at)}
            </span>
          ))}
          <Typography.Text type="secondary" style={{ flex: 1, minWidth: 88, textAlign: 'end', whiteSpace: 'nowrap' }}>
            {at === null ? '' : clock(times[at]!)}
          </Typography.Text>
        </Flex>
        <Button
          type="text"
          icon={asTable ? <BarChartOutlined /> : <TableOutlined />}
          aria-pressed={asTable}
          aria-label={t('chart.table', { label })}
          title={t('chart.table', { label })}
          onClick={() => setAsTable(!asTable)}
        />
      </Flex>
      {asTable ? (
        <div style={{ height, overflow: 'auto' }} tabIndex={0} role="region" aria-label={label}>
          <Table
            size="small"
            rowKey="time"
            pagination={false}
            dataSource={times
              .map((time, i) => ({ time, i }))
              .filter(({ i }) => series.some((s) => s.values[i]))
              .reverse()}
            columns={[
              { title: t('time'), dataIndex: 'time', render: clock },
              ...series.map((s) => ({ title: s.label, key: s.label, align: 'end' as const, render: (_: unknown, { i }: { i: number }) => textOf(s, i) })),
            ]}
          />
        </div>
      ) : (
        <div
          role="img"
          aria-label={`${label}, ${span}: ${empty ? t('chart.empty') : series.map((s) => `${s.label} ${s.whole}`).join(', ')}`}
          style={{ position: 'relative', height }}
        >
          <Suspense>
            <Plot kind={kind} times={times} step={step} series={series} format={format} height={height} onRange={onRange} onHover={onHover} />
          </Suspense>
          {empty && times.length > 0 && (
            <Flex align="center" justify="center" style={{ position: 'absolute', inset: 0, pointerEvents: 'none', color: token.colorTextSecondary }}>
              {t('chart.empty')}
            </Flex>
          )}
        </div>
      )}
    </div>
  )
}

// Swatch is the legend symbol of a series.
function Swatch({ series: { color, dash }, kind }: { series: Series; kind: ChartProps['kind'] }) {
  return (
    <svg width="16" height="10" aria-hidden="true">
      {kind === 'lines' ? (
        <line x1="0" y1="5" x2="16" y2="5" stroke={color} strokeWidth="2" strokeDasharray={dash?.join(' ')} />
      ) : (
        <rect x="3" width="10" height="10" rx="2" fill={color} />
      )}
    </svg>
  )
}
