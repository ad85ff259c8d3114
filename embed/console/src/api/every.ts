import type { Listing } from './paths'
import { type Query, request } from './request'

// most is how many records the interface gives at once.
const most = 1000

// every is a list of the interface to its end.
export async function every<T>(path: Listing<T>, query: Query = {}, signal?: AbortSignal): Promise<T[]> {
  const rows: T[] = []
  for (let page = 1; ; page++) {
    const answer = await request<{ data: T[]; total: number }>('GET', path, { query: { ...query, page, pageSize: most }, signal })
    rows.push(...answer.data)
    if (answer.data.length < most || rows.length >= answer.total) return rows
  }
}
