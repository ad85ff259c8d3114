import { Table, type TableProps } from 'antd'
import { type ComponentType, lazy, Suspense } from 'react'
import { useWider } from './useWider'

const Cards = lazy(async () => ({ default: (await import('./Cards')).Cards as ComponentType<TableProps> }))

// Records is a table or, on narrow screens, a list of cards.
export function Records<T extends object>(props: TableProps<T>) {
  return useWider('sm') ? (
    <Table<T> {...props} />
  ) : (
    <Suspense>
      <Cards {...(props as TableProps)} />
    </Suspense>
  )
}
