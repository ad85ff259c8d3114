// The data of a chart, which Chart describes and Plot draws.

export type Series = {
  label: string
  color: string
  dash?: number[] // distinguishes lines without color
  values: (number | null)[]
  whole: string // total over the period
}

export type ChartProps = {
  label: string // accessible name
  kind: 'stacked' | 'lines'
  times: number[] // start of each step in seconds, without gaps
  step: number // in seconds
  series: Series[]
  format: (n: number) => string // formats a value with its unit
  height?: number
  onRange?: (from: number, to: number) => void // called with the selected period, in seconds
}
