import { type TableProps, Typography } from 'antd'
import type { LogChange, LogField } from '../../api/types'
import { t } from '../../i18n'
import { Records } from '../Records'
import { Side } from './Values'
import { label, title } from './words'

const isEmpty = (value: unknown) => value === undefined || value === null || value === '' || value === 0 || (Array.isArray(value) && value.length === 0)

// Diff are the fields of a changed record, before and after. Of a new or deleted record,
// empty fields are left out.
export function Diff({ change, children }: { change: LogChange; children?: React.ReactNode }) {
  const { collection, operation, fields } = change
  const side = (which: 'old' | 'new') => ({
    key: which,
    title: operation === 'update' ? t(which === 'old' ? 'audit.diff.before' : 'audit.diff.after') : t('audit.diff.value'),
    render: (_: unknown, field: LogField) => <Side of={field} side={which} />,
  })
  const columns: NonNullable<TableProps<LogField>['columns']> = [
    { title: t('audit.diff.field'), dataIndex: 'name', width: '28%', render: (name: string) => label(t, collection, name) },
    ...(operation === 'create' ? [] : [side('old')]),
    ...(operation === 'delete' ? [] : [side('new')]),
  ]
  const shown = operation === 'update' ? fields : fields.filter((field) => field.secret || field.erased || !isEmpty(field.old ?? field.new))
  const heading = t(`audit.change.${operation}`, { thing: title(t, change) })
  return (
    <section className="log-part" aria-label={heading}>
      <h2>{heading}</h2>
      {shown.length > 0 ? (
        <Records<LogField> rowKey="name" size="small" pagination={false} dataSource={shown} columns={columns} />
      ) : (
        <Typography.Text type="secondary">{t('audit.entry.same')}</Typography.Text>
      )}
      {children}
    </section>
  )
}
