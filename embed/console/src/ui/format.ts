import { language } from '../i18n'

const units = ['B', 'KiB', 'MiB', 'GiB', 'TiB']

// bytes is a size as people read it.
export function bytes(n: number): string {
  let unit = 0
  for (; n >= 1024 && unit < units.length - 1; unit++) n /= 1024
  return `${new Intl.NumberFormat(language, { maximumFractionDigits: n < 10 && unit > 0 ? 1 : 0 }).format(n)} ${units[unit]}`
}

// count is a number with its thousands apart.
export function count(n: number): string {
  return new Intl.NumberFormat(language).format(n)
}
