import { language } from '../i18n'

// Formatters are reused: creating one takes longer than rendering a table row.
const formats = new Map<string, Intl.NumberFormat>()

function formatted(n: number, digits: number, style: 'decimal' | 'percent' = 'decimal'): string {
  const key = `${style} ${digits}`
  const format = formats.get(key) ?? new Intl.NumberFormat(language, { style, maximumFractionDigits: digits })
  formats.set(key, format)
  return format.format(n)
}

const units = ['B', 'KiB', 'MiB', 'GiB', 'TiB']

// bytes formats a size.
export function bytes(n: number): string {
  let unit = 0
  for (; n >= 1024 && unit < units.length - 1; unit++) n /= 1024
  return `${decimal(n, n < 10 && unit > 0 ? 1 : 0)} ${units[unit]}`
}

// count formats a number with thousands separators.
export function count(n: number): string {
  return decimal(n, 3)
}

const decimal = (n: number, digits: number) => formatted(n, digits)

// duration formats milliseconds with about three digits.
export function duration(ms: number): string {
  if (ms < 10) return `${decimal(ms, ms < 0.1 ? 3 : 2)} ms`
  if (ms < 1000) return `${decimal(ms, ms < 100 ? 1 : 0)} ms`
  return ms < 60_000 ? `${decimal(ms / 1000, ms < 10_000 ? 2 : 1)} s` : `${decimal(ms / 60_000, 1)} min`
}

// percent formats a ratio.
export function percent(part: number, whole: number): string {
  const share = whole > 0 ? part / whole : 0
  return formatted(share, share > 0 && share < 0.1 ? 1 : 0, 'percent')
}
