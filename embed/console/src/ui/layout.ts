import type { TableProps } from 'antd'
import { base } from '../api/base'

// Layout is what a person has chosen about the columns of a list. It is kept in this browser.
export type Layout = {
  order?: string[] // keys of columns
  shown?: Record<string, boolean> // by key; the page decides about the others
  compact?: boolean
}

type Columns<T> = NonNullable<TableProps<T>['columns']>

export const name = `reeve.lists${base}`

export const stored = () => JSON.parse(localStorage.getItem(name) ?? '{}') as Record<string, Layout | undefined>

// layoutOf returns the layout of the list of a path.
export function layoutOf(path: string): Layout {
  try {
    return stored()[path] ?? {}
  } catch {
    return {}
  }
}

export const keyOf = <T>(column: Columns<T>[number]): string => String(column.key ?? ('dataIndex' in column && column.dataIndex))

// ordered returns all columns in the order of a layout. The first one, which names the record, and the actions keep their
// places. Columns that the layout doesn't know come after those it does.
export function ordered<T>([first, ...others]: Columns<T>, { order }: Layout): Columns<T> {
  const place = (column: Columns<T>[number]) => (keyOf(column) === 'actions' ? 1e3 : (order?.indexOf(keyOf(column)) ?? 0) + 1 || 999)
  return first ? [first, ...others.sort((a, b) => place(a) - place(b))] : []
}

// arrange returns the shown columns in the order of a layout.
export const arrange = <T>(columns: Columns<T>, layout: Layout): Columns<T> =>
  ordered(columns, layout)
    .filter((column) => layout.shown?.[keyOf(column)] !== false)
    .map((column) => (layout.shown?.[keyOf(column)] ? { ...column, responsive: undefined } : column))
