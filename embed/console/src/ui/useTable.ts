import type { TablePaginationConfig, TableProps } from 'antd'
import { useCallback, useState } from 'react'
import type { Listing } from '../api/paths'
import { request } from '../api/request'
import { t } from '../i18n'
import { count } from './format'
import { keep, recall } from './kept'
import { layoutOf } from './layout'
import { pageButtons } from './page-buttons'
import { useResponse } from './useResponse'
import { useQueryParams } from './useQueryParams'
import { wide } from './Wide'

// A table of an API list. Its state (page, size, sort, search, filters) is in the URL, so
// that a view can be bookmarked and shared.

type Page<T> = { data: T[]; total: number; pageSize: number; current: number; hidden?: number; damaged_ids?: number[] }

type Sorted = { field: string; order: 'ascend' | 'descend' } | undefined

const ours = ['page', 'pageSize', 'keywordSearch', 'sorter']

type Options = {
  own?: string[] // URL parameters of the page itself, not sent to the API
  size?: number // default page size
}

const sizes = [10, 20, 50, 100]
const late = { spinning: true, delay: 300 } // what comes sooner shows no spinner

// The page size that a person last chose for a list is kept in this browser until the next sign-out.
const kept = 'page sizes'

const sizeOf = (path: string): number | undefined => sizes.find((size) => size === recall(kept)?.values[path])

const keepSize = (path: string, size: number | undefined) => keep(kept, { ...recall(kept)?.values, [path]: size })

export function useTable<T extends { id: number }>(path: Listing<T>, fixed: Record<string, string> = {}, { own = [], size = 10 }: Options = {}) {
  const parts = useQueryParams()
  const { params } = parts
  const [layout, setLayout] = useState(() => layoutOf(path))
  const preferred = sizeOf(path) ?? size
  const asked = new URLSearchParams(params)
  for (const name of own) asked.delete(name)
  const search = asked.toString()
  const always = JSON.stringify({ ...(preferred !== 10 && { pageSize: String(preferred) }), ...fixed })

  // set changes URL parameters. Any change but of the page returns to the first page.
  // biome-ignore lint/nursery/useReactCompiler: parts is new on each render, and its set is not
  const set = useCallback((values: Parameters<typeof parts.set>[0]) => parts.set({ page: undefined, ...values }), [parts.set])

  const question = useCallback(
    async (signal: AbortSignal, quiet: boolean) => {
      const query: Record<string, string | string[]> = { ...(JSON.parse(always) as Record<string, string>) }
      const sent = new URLSearchParams(search)
      for (const name of sent.keys()) query[name] = name.endsWith('[]') ? sent.getAll(name) : (sent.get(name) ?? '')
      const page = await request<Page<T>>('GET', path, { query, signal, quiet })
      const last = Math.ceil(page.total / page.pageSize)
      if (page.data.length > 0 || last === 0 || page.current <= last) return page
      set({ page: String(last) }) // the last record of a page was deleted
    },
    [path, search, always, set],
  )
  const { data, other, loading, reload, refresh } = useResponse<Page<T>>(`${path}?${search}#${always}`, path, question)
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
    pageSize: Number(params.get('pageSize') ?? preferred),
    total: answer?.total ?? 0,
    itemRender: pageButtons,
    showSizeChanger: true,
    pageSizeOptions: sizes,
    responsive: true,
    showTotal: (n) => t('total', { n: count(n) }),
  }

  const table: TableProps<T> = {
    rowKey: 'id',
    dataSource: answer?.data,
    loading: loading && late,
    pagination,
    size: layout.compact ? 'small' : 'middle',
    ...wide,
    onChange: (page, _, order) => {
      const { field, order: direction } = Array.isArray(order) ? (order[0] ?? {}) : order
      const sorter = direction ? JSON.stringify({ [String(field)]: direction }) : undefined
      if (sorter !== (params.get('sorter') ?? undefined)) set({ sorter })
      else {
        const now = String(page.pageSize)
        if (now !== String(pagination.pageSize)) keepSize(path, page.pageSize)
        set({ page: String(page.current), pageSize: page.pageSize === size ? undefined : now })
      }
    },
  }

  const narrowing = [...params.keys()].filter((name) => name === 'keywordSearch' || !(ours.includes(name) || own.includes(name)))
  return {
    table,
    path,
    layout,
    setLayout,
    fixed,
    search, // the query of the page that is shown, as text
    reload,
    refresh, // reloads without that anything shows it
    set,
    params,
    total: answer?.total ?? 0,
    // hidden is the number of records outside the data scope, if the list reports it.
    hidden: answer?.hidden ?? 0,
    // damaged are the IDs of records of this page that cannot be read.
    damaged: answer?.damaged_ids ?? [],
    // sorted is the sort order, such as "name ascend"; empty for the default.
    sorted: sorted ? `${sorted.field} ${sorted.order}` : '',
    // clear removes the search and filters, and keeps the order.
    clear: () => set(Object.fromEntries(narrowing.map((name) => [name, undefined]))),
    // narrowed reports whether a search or filter is active.
    narrowed: narrowing.length > 0,
    // order are the props of a sortable column.
    order: (field: string) => ({ dataIndex: field, sorter: true, sortOrder: sorted?.field === field ? sorted.order : null }),
  }
}
