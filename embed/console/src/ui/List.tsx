import { Button, Empty, Flex, type TableProps, Typography } from 'antd'
import TableMeasureRowContext from 'antd/es/table/TableMeasureRowContext'
import { type ReactNode, useContext, useEffect, useMemo, useState } from 'react'
import { t } from '../i18n'
import { Bar } from './Bar'
import { count } from './format'
import { Records } from './Records'
import type { useTable } from './useTable'

type Props<T extends { id: number }> = {
  title?: string // none where the page around has it
  list: ReturnType<typeof useTable<T>>
  columns: TableProps<T>['columns']
  search?: boolean
  filters?: ReactNode // between the search and the actions
  actions?: ReactNode
  // batch is the actions on chosen records; without it none can be chosen. whole is how many
  // match the search and filters, once all of those are chosen, which wholes offers.
  batch?: (chosen: T[], whole?: number) => ReactNode
  wholes?: boolean
  empty?: ReactNode // what to do while there is no record at all
  note?: ReactNode // what there is to say of all records
  table?: TableProps<T> // what else the table takes
}

// List is a page of records: above it the search, the filters and the actions, and,
// while records are chosen, what can be done with all of them.
export function List<T extends { id: number }>({ title, list, columns, search, filters, actions, batch, wholes = false, empty, note, table }: Props<T>) {
  const [chosen, setChosen] = useState<T[]>([])
  const [whole, setWhole] = useState(false)
  const rows = list.table.dataSource
  // Most often none are chosen, and then nothing is drawn again.
  // biome-ignore lint/nursery/useReactCompiler: rows that are gone leave the choice, and most often none are
  useEffect(() => setChosen((before) => (before.length ? before.flatMap((old) => rows?.find((row) => row.id === old.id) ?? []) : before)), [rows])

  const asked = list.params.toString()
  // biome-ignore lint/correctness/useExhaustiveDependencies: other filters match other records
  // biome-ignore lint/nursery/useReactCompiler: other filters match other records
  useEffect(() => setWhole(false), [asked]) // others match now

  const choose = (rows: T[]) => {
    setChosen(rows)
    setWhole(false)
  }

  const keys = useMemo(() => chosen.map((row) => row.id), [chosen]) // another array would have the table draw all rows once more

  const nothing = list.narrowed ? (
    <Empty image={Empty.PRESENTED_IMAGE_SIMPLE} description={t('empty.narrowed')}>
      <Button onClick={list.clear}>{t('empty.clear')}</Button>
    </Empty>
  ) : (
    <Empty image={Empty.PRESENTED_IMAGE_SIMPLE} description={empty ?? t('none')} />
  )
  return (
    <>
      <Bar title={title} list={list} search={search} filters={filters} actions={actions} />
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
        columns={columns}
        locale={{ emptyText: list.table.loading ? ' ' : nothing }}
        rowSelection={batch && { columnTitle: (all) => <InHead>{all}</InHead>, selectedRowKeys: keys, onChange: (_, rows) => choose(rows) }}
        {...table}
      />
    </>
  )
}

// InHead is left out where the library repeats the heads in a hidden row, to measure
// the columns: nobody may get into that by keys.
export function InHead({ children }: { children: ReactNode }) {
  return useContext(TableMeasureRowContext) ? null : children
}
