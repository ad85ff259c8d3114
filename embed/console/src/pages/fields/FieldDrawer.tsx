import { Form, type FormInstance, Input, Select, Switch } from 'antd'
import TextArea from 'antd/es/input/TextArea'
import type { CustomField } from '../../api/types'
import { t } from '../../i18n'
import { FormDrawer } from '../../ui/FormDrawer'
import { SortField } from '../../ui/SortField'
import { useEditor } from '../../ui/useEditor'
import { byRows, Shape } from '../settings/Shape'
import { accesses, flags } from './cells'
import { isPossible, types } from './uses'

type Access = CustomField['self_access']
type Flags = Record<(typeof flags)[number], boolean>
type Values = Pick<CustomField, 'realm' | 'key' | 'type' | 'title' | 'describe' | 'options' | 'props' | 'sort' | (typeof accesses)[number]> & Flags

type Props = {
  open: boolean
  field?: CustomField // undefined to create one
  onClose: () => void
  onSaved: () => Promise<void>
}

const grants: Access[] = ['none', 'read', 'write']

const blank: Partial<Values> = {
  realm: 'app',
  type: 'input',
  describe: '',
  options: [],
  props: [],
  self_access: 'none',
  backend_access: 'write',
  program_access: 'read',
  required: false,
  unique: false,
  searchable: false,
  filterable: false,
  listed: false,
  sort: 0,
}

function valuesOf(field: CustomField): Values {
  const { realm, key, type, title, describe, options, props, sort, self_access, backend_access, program_access } = field
  const on = Object.fromEntries(flags.map((name) => [name, field[name] === 1])) as Flags
  return { realm, key, type, title, describe, options, props, sort, self_access, backend_access, program_access, ...on }
}

// able turns off the uses that are not possible, which the form shows as off.
function able<V extends Values>(values: V): V {
  const use = (name: 'searchable' | 'filterable' | 'unique') => values[name] && isPossible(name, values)
  return { ...values, searchable: use('searchable'), filterable: use('filterable'), unique: use('unique') }
}

// FieldDrawer creates or edits a custom field. Realm, key and type are fixed once it exists.
export function FieldDrawer({ open, field, onClose, onSaved }: Props) {
  const { of, create, change, form } = useEditor('/system/field', field, valuesOf)

  async function save(values: Values) {
    const { realm, key, type, ...rest } = able(values)
    await (of ? change(rest) : create({ realm, key, type, ...rest })).catch(byRows)
    await onSaved()
  }

  return (
    <FormDrawer<Values>
      history={of && { collection: 'custom_field', id: of.id }}
      title={of ? t('fields.edit', { name: of.title }) : t('fields.create')}
      open={open}
      onClose={onClose}
      save={save}
      size={560}
      {...form(blank)}
    >
      {(form) => <Items form={form} fixed={of !== undefined} />}
    </FormDrawer>
  )
}

function Items({ form, fixed }: { form: FormInstance<Values>; fixed: boolean }) {
  const type = Form.useWatch('type', form) ?? 'input'
  const backend_access = Form.useWatch('backend_access', form) ?? 'write'
  const program_access = Form.useWatch('program_access', form) ?? 'read'
  const options = Form.useWatch('options', form) ?? []
  const required = [{ required: true, message: t('form.required') }]
  return (
    <>
      <Form.Item name="realm" label={t('fields.realm')} rules={required} extra={!fixed && t('fields.realm.text')}>
        <Select disabled={fixed} options={(['admin', 'app'] as const).map((value) => ({ value, label: t(`fields.realm.${value}`) }))} />
      </Form.Item>
      <Form.Item name="title" label={t('fields.title')} rules={required}>
        <Input maxLength={100} dir="auto" />
      </Form.Item>
      <Form.Item name="key" label={t('fields.key')} rules={required} extra={!fixed && t('fields.key.text')}>
        <Input maxLength={32} disabled={fixed} spellCheck={false} autoComplete="off" />
      </Form.Item>
      <Form.Item name="type" label={t('fields.type')} rules={required} extra={!fixed && t('fields.type.text')}>
        <Select disabled={fixed} options={types.map((value) => ({ value, label: t(`settings.type.${value}`) }))} />
      </Form.Item>
      <Form.Item name="describe" label={t('describe')} extra={t('fields.describe.text')}>
        <TextArea maxLength={1000} rows={2} dir="auto" />
      </Form.Item>
      <Shape type={type} options={options.length > 0} />
      {accesses.map((name) => (
        <Form.Item key={name} name={name} label={t(`fields.${name}`)} rules={required} extra={t(`fields.${name}.text`)}>
          <Select options={grants.map((value) => ({ value, label: t(`fields.access.${value}`) }))} />
        </Form.Item>
      ))}
      {flags.map((name) => (
        <Form.Item key={name} name={name} required label={t(`fields.${name}`)} extra={t(`fields.${name}.text`)}>
          <Flag possible={name === 'required' || name === 'listed' || isPossible(name, { type, backend_access, program_access })} />
        </Form.Item>
      ))}
      <SortField extra={t('fields.sort.text')} />
    </>
  )
}

type FlagProps = { id?: string; possible: boolean; value?: boolean; onChange?: (on: boolean) => void }

// Flag is a switch, which is off while it can't be turned on.
function Flag({ id, possible, value = false, onChange }: FlagProps) {
  return <Switch id={id} disabled={!possible} checked={value && possible} onChange={onChange} />
}
