import type { Listing } from './paths'
import { type Query, request } from './request'

// most is the largest page size of the API.
const most = 1000

// every returns all records of an API list.
export async function getAll<T>(path: Listing<T>, query: Query = {}, signal?: AbortSignal, quiet = false): Promise<T[]> {
  const rows: T[] = []
  let read = 0
  for (let page = 1; ; page++) {
    const answer = await request<{ data: T[]; total: number; damaged_ids?: number[] }>('GET', path, {
      query: { ...query, page, pageSize: most },
      signal,
      quiet,
    })
    rows.push(...answer.data)
    const more = answer.data.length + (answer.damaged_ids?.length ?? 0)
    read += more
    if (more < most || read >= answer.total) return rows
  }
}
