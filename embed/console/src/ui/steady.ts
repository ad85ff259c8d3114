import type { TableProps } from 'antd'

type Columns<T> = NonNullable<TableProps<T>['columns']>

// steady returns columns whose cells render again with another record, or other columns, but not when rows are
// selected: a page of rows takes a second on a slow processor.
export function steady<T extends object>(columns: Columns<T>): Columns<T> {
  return columns.map((column) => {
    if ('children' in column) return column
    const { render } = column
    const rendered = new WeakSet<T>()
    return {
      ...column,
      shouldCellUpdate: (record, before) => record !== before || !rendered.has(record),
      render: (value, record, index) => {
        rendered.add(record)
        return render ? render(value, record, index) : value
      },
    }
  })
}
