import { Checkbox, Pagination, Select, Spin, type TableProps } from 'antd'
import { type Key, type ReactNode, useId, useState } from 'react'
import { t } from '../i18n'
import './cards.css'

type Row = Record<string, unknown>
type Column = Omit<NonNullable<TableProps<Row>['columns']>[number], 'render' | 'dataIndex'> & {
  dataIndex?: string
  sorter?: unknown
  sortOrder?: Order | null
  render?: (value: unknown, row: Row, index: number) => ReactNode
}
type Order = 'ascend' | 'descend'

// Cards replaces a table on narrow screens: the first column is the head of each card, the
// others are lines below. It takes the same props, with selection, sorting and actions.
export function Cards({
  columns = [],
  dataSource = [],
  rowKey = 'id',
  rowSelection,
  pagination,
  loading,
  locale,
  onChange,
  onRow,
  size: density,
}: TableProps<Row>) {
  const id = useId()
  const [turned, setTurned] = useState(1)
  const all = (columns as unknown as Column[]).filter((column) => !column.responsive)
  const [head, ...lines] = all.filter((column) => column.key !== 'actions')
  const actions = all.find((column) => column.key === 'actions')
  const sortable = all.filter((column) => column.sorter)
  const sorted = sortable.find((column) => column.sortOrder)
  const order = sorted && { field: sorted.dataIndex, order: sorted.sortOrder }

  const pages = pagination || undefined
  const size = pages?.pageSize ?? 10
  const current = pages?.current ?? turned
  // A list that is loaded completely is paged here.
  const rows = pages && dataSource.length > size ? dataSource.slice((current - 1) * size, current * size) : dataSource
  const keyOf = (row: Row): Key => (typeof rowKey === 'function' ? rowKey(row) : row[rowKey as string]) as Key
  const cell = (column: Column | undefined, row: Row, i: number): ReactNode => {
    const value = column?.dataIndex === undefined ? undefined : row[column.dataIndex]
    return column?.render ? column.render(value, row, i) : (value as ReactNode)
  }

  const chosen = new Set(rowSelection?.selectedRowKeys)
  const choose = (keys: Set<Key>) => {
    const kept = rows.filter((row) => keys.has(keyOf(row)))
    rowSelection?.onChange?.(kept.map(keyOf), kept, { type: 'multiple' })
  }
  const toggle = (key: Key, on: boolean) => {
    const next = new Set(chosen)
    if (on) next.add(key)
    else next.delete(key)
    choose(next)
  }
  const whole = rows.length > 0 && rows.every((row) => chosen.has(keyOf(row)))

  const tell = (page: typeof pages, to: typeof order | Record<string, never>, action: 'sort' | 'paginate') =>
    onChange?.(page ?? {}, {}, (to ?? {}) as never, { action, currentDataSource: [...rows] })
  const sort = (value?: string) => {
    const [field, direction] = value?.split(' ') ?? []
    tell(pages, field ? { field, order: direction as Order } : {}, 'sort')
  }
  const turn = (to: number, pageSize: number) => {
    setTurned(to)
    pages?.onChange?.(to, pageSize)
    tell({ ...pages, current: to, pageSize }, order, 'paginate')
  }

  const empty = locale?.emptyText
  return (
    <Spin {...(typeof loading === 'object' ? loading : { spinning: loading === true })}>
      {(rowSelection || sortable.length > 0) && rows.length > 0 && (
        <div className="cards-bar">
          {rowSelection && (
            <Checkbox checked={whole} indeterminate={!whole && chosen.size > 0} onChange={(e) => choose(new Set(e.target.checked ? rows.map(keyOf) : []))}>
              {t('select.all')}
            </Checkbox>
          )}
          {sortable.length > 0 && (
            <Select
              allowClear
              aria-label={t('sort.by')}
              placeholder={t('sort.by')}
              value={sorted ? `${sorted.dataIndex} ${sorted.sortOrder}` : undefined}
              onChange={sort}
              options={sortable.flatMap(({ dataIndex, title }) =>
                (['ascend', 'descend'] as const).map((way) => ({ value: `${dataIndex} ${way}`, label: t(`sort.${way}`, { name: String(title) }) })),
              )}
            />
          )}
        </div>
      )}
      <ul className={density === 'small' ? 'cards compact' : 'cards'}>
        {rows.map((row, i) => {
          const key = keyOf(row)
          const { style, onClick } = onRow?.(row, i) ?? {}
          return (
            <li key={key} className={chosen.has(key) ? 'chosen' : undefined} style={style} onClick={onClick}>
              <div className="cards-head">
                {rowSelection && (
                  <Checkbox
                    aria-labelledby={`${id}${key}`}
                    {...(rowSelection.getCheckboxProps?.(row) as object)}
                    checked={chosen.has(key)}
                    onChange={(e) => toggle(key, e.target.checked)}
                  />
                )}
                <div id={`${id}${key}`}>{cell(head, row, i)}</div>
                {actions && <div className="cards-actions">{cell(actions, row, i)}</div>}
              </div>
              <dl>
                {lines.map((column, n) => (
                  <div key={column.key ?? column.dataIndex ?? n}>
                    <dt>{column.title as ReactNode}</dt>
                    <dd>{cell(column, row, i)}</dd>
                  </div>
                ))}
              </dl>
            </li>
          )
        })}
      </ul>
      {rows.length === 0 && <div className="cards-empty">{typeof empty === 'function' ? empty() : empty}</div>}
      {pages && dataSource.length > 0 && (
        <Pagination
          {...pages}
          total={pages.total ?? dataSource.length}
          current={current}
          pageSize={size}
          align="center"
          style={{ marginTop: 16 }}
          onChange={turn}
        />
      )}
    </Spin>
  )
}
