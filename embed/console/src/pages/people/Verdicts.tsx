import { Alert, Checkbox, Flex, Table, Tag, theme } from 'antd'
import { useState } from 'react'
import type { Import, Verdict } from '../../api/types'
import { t } from '../../i18n'
import { actingHeight } from '../../ui/acting-height'
import { count } from '../../ui/format'
import { faultText } from '../../ui/words'
import type { Target } from './import-file'

type Props = {
  of: Import
  imported?: number // users, if the others are what is left
  targets?: Target[] // of the columns
  cells?: (line: number, column: string) => string // of the file, if it was read here
}

// Verdicts is the preview of an import, row by row, with the faults at each cell.
export function Verdicts({ of, imported, targets = [], cells }: Props) {
  const wrong = new Set(of.rows.flatMap((row) => Object.keys(row.errors ?? {})))
  const first = (column: string) => (column === 'username' ? 2 : Number(wrong.has(column)))
  const columns = cells ? targets.toSorted((a, b) => first(b.column) - first(a.column)) : [{ column: 'username', title: t('sign_in.username') }]
  const [onlyBad, setOnlyBad] = useState(of.failed > 0)
  const rows = onlyBad && of.failed > 0 ? of.rows.filter((row) => !row.ok) : of.rows
  return (
    <Flex vertical gap={16}>
      {of.rows.length === 0 && <Alert type="warning" showIcon title={t('people.import.none')} />}
      {of.rows.length > 0 &&
        (imported !== undefined ? (
          <Alert type="warning" showIcon title={t('people.import.left', { n: count(imported), bad: count(of.failed) })} />
        ) : of.failed > 0 ? (
          <Alert type="error" showIcon title={t('people.import.bad', { n: count(of.failed), of: count(of.rows.length) })} />
        ) : (
          <Alert type="success" showIcon title={t('people.import.good', { n: count(of.rows.length) })} />
        ))}
      {of.failed > 0 && of.failed < of.rows.length && (
        <Checkbox checked={onlyBad} onChange={(e) => setOnlyBad(e.target.checked)}>
          {t('people.import.only_bad')}
        </Checkbox>
      )}
      {of.rows.length > 0 && (
        <Table<Verdict>
          virtual
          size="small"
          rowKey="line"
          pagination={false}
          scroll={{ x: 72 + (cells ? 160 * columns.length + 120 : 560), y: Math.max(240, window.innerHeight - 380 - actingHeight()) }}
          dataSource={rows}
          columns={[
            { title: t('people.import.line'), dataIndex: 'line', width: 72 },
            ...columns.map(({ column, title }) => ({
              title,
              key: column,
              width: 160,
              render: (_: unknown, row: Verdict) => (
                <>
                  <div style={{ overflowWrap: 'anywhere', whiteSpace: 'normal' }}>{cells ? cells(row.line, column) : row.username}</div>
                  <Faults row={row} names={cells ? [column] : []} />
                </>
              ),
            })),
            {
              title: t('people.import.verdict'),
              key: 'verdict',
              width: cells ? 120 : 400,
              render: (_, row) => (
                <>
                  <Tag color={row.ok ? 'success' : 'error'}>{t(row.ok ? 'people.import.fine' : 'people.import.wrong')}</Tag>
                  <Faults row={row} names={Object.keys(row.errors ?? {}).filter((name) => !cells || !columns.some(({ column }) => column === name))} titled />
                </>
              ),
            },
          ]}
        />
      )}
    </Flex>
  )
}

// reasonOf is the text of a fault.
const reasonOf = (row: Verdict, name: string): string => faultText(row.errors?.[name] ?? '', row.details?.[name])

// reasonsOf is what is wrong with a row, in one line.
export const reasonsOf = (row: Verdict, titleOf: (column: string) => string): string =>
  Object.keys(row.errors ?? {})
    .map((name) => (name === 'row' ? reasonOf(row, name) : titleOf(name) + t('colon') + reasonOf(row, name)))
    .join('; ')

// Faults are what is wrong with some cells of a row.
function Faults({ row, names, titled = false }: { row: Verdict; names: string[]; titled?: boolean }) {
  const { token } = theme.useToken()
  return names
    .filter((name) => row.errors?.[name] !== undefined)
    .map((name) => (
      <div key={name} style={{ color: token.colorErrorText, overflowWrap: 'anywhere', whiteSpace: 'normal' }}>
        {titled && <b>{name === 'row' ? t('people.import.row') : name}: </b>}
        {reasonOf(row, name)}
      </div>
    ))
}
