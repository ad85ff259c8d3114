import type { Listing } from './paths'
import { type Query, request } from './request'

// most is the largest page size of the API.
const most = 1000

// every returns all records of an API list.
export async function every<T>(path: Listing<T>, query: Query = {}, signal?: AbortSignal, quiet = false): Promise<T[]> {
  const rows: T[] = []
  for (let page = 1; ; page++) {
    const answer = await request<{ data: T[]; total: number }>('GET', path, { query: { ...query, page, pageSize: most }, signal, quiet })
    rows.push(...answer.data)
    if (answer.data.length < most || rows.length >= answer.total) return rows
  }
}
