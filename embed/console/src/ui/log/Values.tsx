import { Typography } from 'antd'
import dayjs from 'dayjs'
import type { ReactNode } from 'react'
import type { LogField } from '../../api/types'
import { given, maybe, t } from '../../i18n'

// States are fields of 0 and 1 that are enabled or disabled; other flags are yes or no.
const states = ['status', 'switch']
const flags = ['show', 'public', 'must_change_password', 'required', 'searchable', 'filterable', 'unique', 'listed', 'deleted', 'backup_eligible', 'confirmed']

type Named = Pick<LogField, 'labels'> & { name: string }

// text is a value of a field as a text; '' for an empty one.
function text({ name, labels }: Named, value: unknown): string {
  if (value === undefined || value === null || value === '') return ''
  const label = labels?.[String(value)]
  if (label) return given(label)
  if (typeof value === 'number' && (/(^|_)id$/.test(name) || name.endsWith('_ids'))) return value === 0 ? '' : `#${String(value)}`
  if (states.includes(name) && typeof value === 'number') return t(value ? 'enabled' : 'disabled')
  if (flags.includes(name)) return t(value ? 'yes' : 'no')
  if (typeof value === 'string' && name.endsWith('_at')) return dayjs(value).format('YYYY-MM-DD HH:mm:ss')
  if (typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean') return maybe(`audit.value.${name}.${value}`) ?? String(value)
  return JSON.stringify(value, undefined, 1)
}

// Value is a value of a field.
export function Value({ of, value }: { of: Named; value: unknown }) {
  if (Array.isArray(value) && value.every((one) => typeof one !== 'object')) return <Values of={of} values={value} n={value.length} />
  const shown = text(of, value)
  return (
    <div className="log-value" dir="auto">
      {shown || '—'}
    </div>
  )
}

// Values are the first values of n.
function Values({ of, values, n }: { of: Named; values: unknown[]; n: number }) {
  if (n === 0) return <>—</>
  return (
    <div className="log-value">
      <ul>
        {values.map((value) => (
          <li key={String(value)} dir="auto">
            {text(of, value)}
          </li>
        ))}
      </ul>
      {n > values.length && <Typography.Text type="secondary">{t('audit.diff.rest', { n: n - values.length })}</Typography.Text>}
    </div>
  )
}

// Side is the value of a field before or after a change, or what there is instead.
export function Side({ of, side }: { of: LogField; side: 'old' | 'new' }): ReactNode {
  const note = (text: string) => <Typography.Text type="secondary">{text}</Typography.Text>
  if (of.secret) return note(t('audit.diff.secret'))
  if (of.erased && of[side] === undefined) return note(t('audit.diff.erased'))
  const [values, n] = side === 'old' ? [of.removed, of.removed_count] : [of.added, of.added_count]
  if (of.added_count || of.removed_count) {
    if (!n) return '—'
    return (
      <>
        {note(t(side === 'old' ? 'audit.diff.removed' : 'audit.diff.added'))}
        <Values of={of} values={values ?? []} n={n} />
      </>
    )
  }
  if (of.truncated && of[side] === undefined) return note(t('audit.diff.long'))
  return <Value of={of} value={of[side]} />
}
