import { get, type Query } from './request'

// most is how many records the interface gives at once.
const most = 1000

// every is a list of the interface to its end.
export async function every<T>(path: string, query: Query = {}, signal?: AbortSignal): Promise<T[]> {
  const rows: T[] = []
  for (let page = 1; ; page++) {
    const answer = await get<{ data: T[]; total: number }>(path, { ...query, page, pageSize: most }, { signal })
    rows.push(...answer.data)
    if (answer.data.length < most || rows.length >= answer.total) return rows
  }
}
