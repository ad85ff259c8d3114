import type { TablePaginationConfig, TableProps } from 'antd'
import { useCallback } from 'react'
import type { Listing } from '../api/paths'
import { request } from '../api/request'
import { t } from '../i18n'
import { count } from './format'
import { turns } from './turns'
import { useAnswer } from './useAnswer'
import { useParts } from './useParts'
import { wide } from './Wide'

// A table over one of the interface's lists. What is shown (page, size, order,
// search, filters) lies in the address, so that a view can be kept and shared.

type Page<T> = { data: T[]; total: number; pageSize: number; current: number; hidden?: number }

type Sorted = { field: string; order: 'ascend' | 'descend' } | undefined

const ours = ['page', 'pageSize', 'keywordSearch', 'sorter']

type Options = {
  own?: string[] // what the page keeps in the address for itself: it is not asked for
  size?: number // of a page, while nothing else is chosen
}

export function useTable<T extends { id: number }>(path: Listing<T>, fixed: Record<string, string> = {}, { own = [], size = 10 }: Options = {}) {
  const parts = useParts()
  const { params } = parts
  const asked = new URLSearchParams(params)
  for (const name of own) asked.delete(name)
  const search = asked.toString()
  const always = JSON.stringify({ ...(size !== 10 && { pageSize: String(size) }), ...fixed })

  // set changes parts of the address. All but a change of the page lead to the first one.
  // biome-ignore lint/nursery/useReactCompiler: parts is made anew for each drawing, and its set is not
  const set = useCallback((values: Parameters<typeof parts.set>[0]) => parts.set({ page: undefined, ...values }), [parts.set])

  const question = useCallback(
    async (signal: AbortSignal) => {
      const query: Record<string, string | string[]> = { ...(JSON.parse(always) as Record<string, string>) }
      const sent = new URLSearchParams(search)
      for (const name of sent.keys()) query[name] = name.endsWith('[]') ? sent.getAll(name) : (sent.get(name) ?? '')
      const page = await request<Page<T>>('GET', path, { query, signal })
      const last = Math.ceil(page.total / page.pageSize)
      if (page.data.length > 0 || last === 0 || page.current <= last) return page
      set({ page: String(last) }) // the last of a page was deleted
    },
    [path, search, always, set],
  )
  const { data, other, loading, reload } = useAnswer<Page<T>>(`${path}?${search}#${always}`, question)
  const answer = data ?? other

  const sorted: Sorted = (() => {
    try {
      const [entry] = Object.entries(JSON.parse(params.get('sorter') ?? '{}') as Record<string, 'ascend' | 'descend'>)
      return entry ? { field: entry[0], order: entry[1] } : undefined
    } catch {
      return undefined
    }
  })()

  const pagination: TablePaginationConfig = {
    current: Number(params.get('page') ?? 1),
    pageSize: Number(params.get('pageSize') ?? size),
    total: answer?.total ?? 0,
    itemRender: turns,
    showSizeChanger: true,
    pageSizeOptions: [10, 20, 50, 100],
    responsive: true,
    showTotal: (n) => t('total', { n: count(n) }),
  }

  const table: TableProps<T> = {
    rowKey: 'id',
    dataSource: answer?.data,
    loading,
    pagination,
    size: 'middle',
    ...wide,
    onChange: (page, _, order) => {
      const { field, order: direction } = Array.isArray(order) ? (order[0] ?? {}) : order
      const sorter = direction ? JSON.stringify({ [String(field)]: direction }) : undefined
      if (sorter !== (params.get('sorter') ?? undefined)) set({ sorter })
      else set({ page: String(page.current), pageSize: page.pageSize === size ? undefined : String(page.pageSize) })
    },
  }

  const narrowing = [...params.keys()].filter((name) => name === 'keywordSearch' || !(ours.includes(name) || own.includes(name)))
  return {
    table,
    reload,
    set,
    params,
    total: answer?.total ?? 0,
    // hidden is how many records are outside of one's data scope, where the list tells it.
    hidden: answer?.hidden ?? 0,
    // sorted is the order in words, as "name ascend"; empty for the list's own.
    sorted: sorted ? `${sorted.field} ${sorted.order}` : '',
    // clear takes the search and the filters away, and leaves the order.
    clear: () => set(Object.fromEntries(narrowing.map((name) => [name, undefined]))),
    // narrowed tells whether there is a search or a filter that hides records.
    narrowed: narrowing.length > 0,
    // order is what a sortable column says of itself.
    order: (field: string) => ({ dataIndex: field, sorter: true, sortOrder: sorted?.field === field ? sorted.order : null }),
  }
}
