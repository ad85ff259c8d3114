import type { Query } from '../../api/request'

// Span is the period: the last minutes, or a part of the past. It is kept in the URL and
// when another list opens.
export type Span = { name: string; from: () => number; to: number | undefined; key: string }

export const quick = { '15m': 15, '1h': 60, '24h': 24 * 60, '7d': 7 * 24 * 60 } as const

export function spanOf(params: URLSearchParams): Span {
  const [from, to] = [Date.parse(params.get('from') ?? ''), Date.parse(params.get('to') ?? '')]
  if (from < to) return { name: '', from: () => from, to, key: `${from}-${to}` }
  const name = (params.get('span') ?? '') in quick ? (params.get('span') as keyof typeof quick) : '1h'
  return { name, from: () => Date.now() - quick[name] * 60_000, to: undefined, key: name }
}

// inAddress returns a past period as URL parameters.
export const inAddress = (from: number, to: number) => ({ from: new Date(from).toISOString(), to: new Date(to).toISOString(), span: undefined })

// within returns the query parameters of a period; without an end, up to now.
export const within = (from: number, to?: string): Query => ({ 'recorded_at[]': [new Date(from).toISOString(), to ?? ''] })
