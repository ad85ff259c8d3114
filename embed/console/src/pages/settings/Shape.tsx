import { Form } from 'antd'
import { Failure } from '../../api/request'
import { maybe, t } from '../../i18n'
import { Rows } from './Rows'

const choices = ['select', 'radio', 'checkbox']

// Props with a meaning for a type; others are stored for API clients.
const hints: Record<string, string[]> = {
  input: ['maxlength', 'placeholder', 'unit'],
  textarea: ['maxlength', 'placeholder', 'rows'],
  number: ['min', 'max', 'step', 'unit', 'placeholder'],
  secret: ['maxlength'],
  select: ['placeholder'],
}

type Props = {
  type: string
  options?: boolean // whether there are options, which a type without a choice keeps
  disabled?: boolean
}

// Shape are the form items of the options and props that define the values of a type.
export function Shape({ type, options = false, disabled = false }: Props) {
  const choice = choices.includes(type)
  return (
    <>
      {(choice || options) && (
        <Form.Item
          name="options"
          label={t('settings.options')}
          rules={choice ? [{ required: true, type: 'array', message: t('form.required') }] : undefined}
          extra={t('settings.options.text')}
        >
          <Rows
            label={t('settings.options')}
            add={t('settings.options.add')}
            disabled={disabled}
            columns={[
              { name: 'label', label: t('settings.option.label') },
              { name: 'value', label: t('settings.option.value') },
            ]}
          />
        </Form.Item>
      )}
      <Form.Item name="props" label={t('settings.props')} extra={t('settings.props.text')}>
        <Rows
          label={t('settings.props')}
          add={t('settings.props.add')}
          disabled={disabled}
          columns={[
            { name: 'name', label: t('settings.prop.name'), suggest: hints[type] ?? [] },
            { name: 'value', label: t('settings.prop.value') },
          ]}
        />
      </Form.Item>
    </>
  )
}

// fieldName is the label of a field in a row.
const fieldName = (rows: string, field: string): string => maybe(`settings.${rows === 'options' ? 'option' : 'prop'}.${field}`) ?? field

// byRows collects the faults of rows at the field that contains them.
export function byRows(cause: unknown): never {
  if (!(cause instanceof Failure)) throw cause
  const errors: Record<string, string> = {}
  for (const [name, fault] of Object.entries(cause.errors)) {
    const row = /^(options|props)\[(\d+)\]\.?(.*)$/.exec(name)
    const [field, text] = row ? [row[1]!, t('settings.rows.fault', { n: Number(row[2]) + 1, field: fieldName(row[1]!, row[3]!), fault })] : [name, fault]
    errors[field] = errors[field] ? `${errors[field]} ${text}` : text
  }
  throw new Failure(cause.status, cause.code, cause.message, cause.showType, errors, cause.requestId)
}
