import { ArrowDownOutlined, ArrowUpOutlined, DeleteOutlined, PlusOutlined } from '@ant-design/icons'
import { Button, Flex, Input } from 'antd'
import { useId } from 'react'
import { t } from '../../i18n'

type Column = { name: string; label: string; suggest?: string[] }
type Row = Record<string, string>
type Props = { id?: string; label: string; columns: [Column, Column]; value?: Row[]; onChange?: (rows: Row[]) => void; disabled?: boolean; add: string }

// Rows edits a list of pairs.
export function Rows({ id, label, columns, value = [], onChange, disabled, add }: Props) {
  const swap = (i: number, j: number) => onChange?.(value.map((row, at) => (at === i ? value[j]! : at === j ? value[i]! : row)))
  return (
    <div id={id} role="group" aria-label={label}>
      {value.map((row, i) => (
        <Flex key={i} gap={4} style={{ marginBottom: 8 }}>
          {columns.map((column) => (
            <Cell
              key={column.name}
              column={column}
              text={row[column.name] ?? ''}
              label={`${column.label} ${i + 1}`}
              disabled={disabled}
              onChange={(text) => onChange?.(value.map((r, at) => (at === i ? { ...r, [column.name]: text } : r)))}
            />
          ))}
          {!disabled && (
            <>
              <Button
                type="text"
                icon={<ArrowUpOutlined />}
                disabled={i === 0}
                aria-label={t('settings.rows.up', { n: i + 1 })}
                onClick={() => swap(i, i - 1)}
              />
              <Button
                type="text"
                icon={<ArrowDownOutlined />}
                disabled={i === value.length - 1}
                aria-label={t('settings.rows.down', { n: i + 1 })}
                onClick={() => swap(i, i + 1)}
              />
              <Button
                type="text"
                icon={<DeleteOutlined />}
                aria-label={t('settings.rows.remove', { n: i + 1 })}
                onClick={() => onChange?.(value.filter((_, at) => at !== i))}
              />
            </>
          )}
        </Flex>
      ))}
      {!disabled && (
        <Button block type="dashed" icon={<PlusOutlined />} onClick={() => onChange?.([...value, { [columns[0].name]: '', [columns[1].name]: '' }])}>
          {add}
        </Button>
      )}
    </div>
  )
}

// Cell uses a datalist for suggestions, as any text is allowed.
function Cell({
  column,
  text,
  label,
  disabled,
  onChange,
}: {
  column: Column
  text: string
  label: string
  disabled?: boolean
  onChange: (text: string) => void
}) {
  const list = useId()
  return (
    <>
      <Input
        aria-label={label}
        placeholder={column.label}
        disabled={disabled}
        value={text}
        style={{ flex: 1, minWidth: 0 }}
        list={column.suggest && list}
        onChange={(e) => onChange(e.target.value)}
      />
      {column.suggest && (
        <datalist id={list}>
          {column.suggest.map((value) => (
            <option key={value} value={value} />
          ))}
        </datalist>
      )}
    </>
  )
}
