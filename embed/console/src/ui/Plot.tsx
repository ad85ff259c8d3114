import { theme } from 'antd'
import dayjs from 'dayjs'
import { useEffect, useRef } from 'react'
import uPlot from 'uplot'
import 'uplot/dist/uPlot.min.css'
import { language } from '../i18n'
import { languages } from '../i18n/languages'
import type { ChartProps } from './series'
import { useLatest } from './useLatest'

type Props = Pick<ChartProps, 'kind' | 'times' | 'step' | 'series' | 'format' | 'onRange'> & { height: number; onHover: (at: number | null) => void }

const day = 86_400

// times labels the time axis: hours and minutes, and the date at midnight.
function timeLabels(_: uPlot, splits: number[], __: number, ___: number, apart: number): string[] {
  const date = languages[language]?.day ?? ''
  return splits.map((at) => {
    const moment = dayjs.unix(at)
    if (apart >= day) return moment.format(date)
    return moment.hour() === 0 && moment.minute() === 0 ? moment.format(date) : moment.format(apart < 60 ? 'HH:mm:ss' : 'HH:mm')
  })
}

// columnsOf converts data for uPlot. Values are in the middle of their step. A stacked
// series is drawn in front of the previous one, which is therefore the sum of itself and
// all later ones.
function columnsOf({ kind, times, step, series }: Pick<Props, 'kind' | 'times' | 'step' | 'series'>): uPlot.AlignedData {
  const xs = times.map((at) => at + step / 2)
  const values =
    kind === 'lines'
      ? series.map((s) => s.values)
      : series.map((_, i) => times.map((__, at) => series.slice(i).reduce((sum, s) => sum + (s.values[at] ?? 0), 0)))
  return [xs, ...values]
}

// isolated are values without neighbors, to which no line leads.
const isolated = (values: ArrayLike<number | null | undefined>): number[] =>
  Array.from(values).flatMap((value, i) => (value == null || values[i - 1] != null || values[i + 1] != null ? [] : i))

// Plot draws a chart on a canvas; its content must also be available as text.
export default function Plot({ kind, times, step, series, format, onRange, height, onHover }: Props) {
  const { token } = theme.useToken()
  const at = useRef<HTMLDivElement>(null)
  const plot = useRef<uPlot>(undefined)
  const now = useLatest({ times, step, format, onRange, onHover, data: columnsOf({ kind, times, step, series }) })
  const looks = JSON.stringify([kind, series.map((s) => [s.label, s.color, s.dash]), !!onRange, height])

  // biome-ignore lint/correctness/useExhaustiveDependencies: looks stands for everything that a plot is made of, and data is updated by setData
  useEffect(() => {
    const into = at.current!
    const font = `12px ${token.fontFamily}`
    const axis = { stroke: token.colorTextSecondary, font, ticks: { show: false }, gap: 6 }
    const made = new uPlot(
      {
        width: into.clientWidth,
        height,
        padding: [8, 8, 0, 0],
        legend: { show: false },
        cursor: { y: false, points: { show: kind === 'lines', size: 7 }, drag: { x: !!onRange, y: false, setScale: false } },
        scales: {
          x: { time: true, range: () => [now.current.times[0] ?? 0, (now.current.times.at(-1) ?? 0) + now.current.step] },
          y: { range: (_, __, most) => [0, most > 0 ? most * 1.1 : 1] },
        },
        axes: [
          { ...axis, size: 28, space: 70, grid: { show: false }, values: timeLabels },
          {
            ...axis,
            size: 64,
            space: 36,
            grid: { stroke: token.colorBorderSecondary, width: 1 },
            values: (_, splits) => splits.map((n) => now.current.format(n)),
          },
        ],
        series: [
          {},
          ...series.map((s) =>
            kind === 'lines'
              ? {
                  stroke: s.color,
                  width: 1.75,
                  dash: s.dash,
                  points: { size: 4, fill: s.color, filter: (u: uPlot, at: number, shown: boolean) => (shown ? null : isolated(u.data[at]!)) },
                }
              : { fill: s.color, width: 0, points: { show: false }, paths: uPlot.paths.bars!({ size: [0.8, 28] }) },
          ),
        ],
        hooks: {
          setCursor: [(u) => now.current.onHover(u.cursor.idx ?? null)],
          setSelect: [
            (u) => {
              const { left, width } = u.select
              if (width < 4) return
              now.current.onRange?.(u.posToVal(left, 'x'), u.posToVal(left + width, 'x'))
              u.setSelect({ left: 0, top: 0, width: 0, height: 0 }, false)
            },
          ],
        },
      },
      now.current.data,
      into,
    )
    made.root.querySelector<HTMLElement>('.u-select')!.style.background = token.colorFillSecondary
    plot.current = made
    const watch = new ResizeObserver(() => {
      if (into.clientWidth !== made.width) made.setSize({ width: into.clientWidth, height })
    })
    watch.observe(into)
    return () => {
      watch.disconnect()
      made.destroy()
    }
  }, [looks, token])

  // biome-ignore lint/correctness/useExhaustiveDependencies: data is made of times and series
  useEffect(() => plot.current?.setData(now.current.data), [times, series])

  return <div ref={at} style={{ height, overflow: 'hidden', cursor: onRange ? 'crosshair' : undefined }} onMouseLeave={() => onHover(null)} />
}
