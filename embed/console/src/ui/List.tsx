import { Button, Empty, Flex, type TableProps, Typography } from 'antd'
import TableMeasureRowContext from 'antd/es/table/TableMeasureRowContext'
import { type ReactNode, useContext, useEffect, useMemo, useState } from 'react'
import { t } from '../i18n'
import { Bar } from './Bar'
import { count } from './format'
import { arrange } from './layout'
import { type Create, Nothing } from './Nothing'
import { Records } from './Records'
import { steady } from './steady'
import type { useTable } from './useTable'

type Props<T extends { id: number }> = {
  title?: string // undefined if the page around it has one
  list: ReturnType<typeof useTable<T>>
  columns: NonNullable<TableProps<T>['columns']>
  search?: boolean
  filters?: ReactNode // between search and actions
  create: Create // comes before the actions, and is offered while there are no records at all
  actions?: ReactNode
  // batch renders the actions on selected records; without it none can be selected. whole
  // is the number of matches once all of them are selected, which wholes enables.
  batch?: (chosen: T[], whole?: number) => ReactNode
  wholes?: boolean
  empty: ReactNode // why there are no records at all
  note?: ReactNode // shown above the records
  table?: TableProps<T> // further props of the table
}

// List is a page of records: search, filters and actions above, and batch actions while
// records are selected.
export function List<T extends { id: number }>({
  title,
  list,
  columns,
  search,
  filters,
  create,
  actions,
  batch,
  wholes = false,
  empty,
  note,
  table,
}: Props<T>) {
  const [chosen, setChosen] = useState<T[]>([])
  const [whole, setWhole] = useState(false)
  const rows = list.table.dataSource
  // Usually none are selected, and nothing renders again.
  // biome-ignore lint/nursery/useReactCompiler: rows that are gone leave the selection, which is usually empty
  useEffect(() => setChosen((before) => (before.length ? before.flatMap((old) => rows?.find((row) => row.id === old.id) ?? []) : before)), [rows])

  const asked = list.params.toString()
  // biome-ignore lint/correctness/useExhaustiveDependencies: runs when the filters change
  // biome-ignore lint/nursery/useReactCompiler: other filters match other records
  useEffect(() => setWhole(false), [asked]) // other records match now

  const choose = (rows: T[]) => {
    setChosen(rows)
    setWhole(false)
  }

  const shown = useMemo(() => steady(arrange(columns, list.layout)), [columns, list.layout])
  const keys = useMemo(() => chosen.map((row) => row.id), [chosen]) // a new array would render all rows again

  const nothing = list.narrowed ? (
    <Empty image={Empty.PRESENTED_IMAGE_SIMPLE} description={t('empty.narrowed')}>
      <Button onClick={list.clear}>{t('empty.clear')}</Button>
    </Empty>
  ) : (
    <Nothing why={empty} create={create} />
  )
  return (
    <>
      <Bar
        title={title}
        list={list}
        search={search}
        filters={filters}
        actions={
          create ? (
            <>
              {create}
              {actions}
            </>
          ) : (
            actions
          )
        }
        menu={{ list, columns }}
      />
      {note && <Typography.Paragraph type="secondary">{note}</Typography.Paragraph>}
      {batch && chosen.length > 0 && (
        <Flex
          className="list-batch"
          gap={8}
          wrap
          align="center"
          role="toolbar"
          aria-label={whole ? t('selected.whole', { n: count(list.total) }) : t('selected', { n: chosen.length })}
        >
          <Typography.Text strong>{whole ? t('selected.whole', { n: count(list.total) }) : t('selected', { n: chosen.length })}</Typography.Text>
          {wholes && !whole && chosen.length === rows?.length && list.total > chosen.length && (
            <Button type="link" size="small" onClick={() => setWhole(true)}>
              {t('select.whole', { n: count(list.total) })}
            </Button>
          )}
          {whole && (
            <Button type="link" size="small" onClick={() => choose([])}>
              {t('select.none')}
            </Button>
          )}
          {batch(chosen, whole ? list.total : undefined)}
        </Flex>
      )}
      <Records<T>
        {...list.table}
        columns={shown}
        locale={{ emptyText: list.table.loading ? ' ' : nothing }}
        rowSelection={
          batch && {
            columnTitle: (all) => <InHead>{all}</InHead>,
            selectedRowKeys: keys,
            onChange: (_, rows) => choose(rows),
            getTitleCheckboxProps: () => ({ 'aria-label': t('select.all') }) as object,
            getCheckboxProps: (row) => ({ 'aria-label': t('select.row', { n: 1 + (rows ?? []).indexOf(row) }) }) as object,
          }
        }
        {...table}
      />
    </>
  )
}

// InHead is omitted in the hidden row that the library uses to measure columns: it must
// contain nothing focusable.
export function InHead({ children }: { children: ReactNode }) {
  return useContext(TableMeasureRowContext) ? null : children
}
