import { Form, type FormRule } from 'antd'
import type { FieldForm } from '../../api/types'
import { t } from '../../i18n'
import { FormControl } from '../settings/FormControl'
import { given, nameOf, textsOf, type Values } from './values'

type Props = {
  fields: FieldForm[]
  values?: Values // undefined for a new record
}

// Inputs are the form items of custom fields. Those that can't be changed are disabled, and absent from the form
// of a new record. They have initial values because the declarations may be loaded after the form.
export function Inputs({ fields, values }: Props) {
  const texts = textsOf(fields, values)
  return fields
    .filter((field) => values || field.writable)
    .map((field) => {
      const text = texts[nameOf(field.key)]
      return (
        <Form.Item
          key={field.key}
          name={nameOf(field.key)}
          label={<Wrapped text={field.title} />}
          extra={field.describe && <Wrapped text={field.describe} lines />}
          required={Boolean(field.required && field.writable)}
          rules={rulesOf(field, values !== undefined && values[field.key] === undefined)}
          initialValue={text}
        >
          <FormControl of={{ ...field, values: text ?? '' }} label={field.title} disabled={!field.writable} />
        </Form.Item>
      )
    })
}

// rulesOf requires a value where the server does: in a new record, and in one that does not lack it.
function rulesOf({ type, required, writable }: FieldForm, lacks: boolean): FormRule[] | undefined {
  if (!required || !writable || lacks) return undefined
  return [{ validator: (_, text?: string) => (given(type, text) ? Promise.resolve() : Promise.reject(new Error(t('form.required')))) }]
}

// Wrapped is a text of a declaration; what can't be wrapped is clipped.
function Wrapped({ text, lines = false }: { text: string; lines?: boolean }) {
  const wrapped = { overflowWrap: 'anywhere', overflow: 'clip', overflowClipMargin: 4 } as const
  return (
    <span dir="auto" style={{ ...wrapped, display: 'block', minWidth: 0, whiteSpace: lines ? 'pre-line' : 'normal' }}>
      {text}
    </span>
  )
}
