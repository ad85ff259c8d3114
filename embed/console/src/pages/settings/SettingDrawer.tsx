import { Alert, Form, type FormInstance, Input, Select } from 'antd'
import TextArea from 'antd/es/input/TextArea'
import type { Option, Prop, Setting } from '../../api/types'
import { given, type Key, t } from '../../i18n'
import { FormDrawer } from '../../ui/FormDrawer'
import { SortField } from '../../ui/SortField'
import { FormControl } from './FormControl'
import { byRows, Shape } from './Shape'
import type { Group } from './useSettings'
import { useEditor } from '../../ui/useEditor'
import { byLabel } from '../../ui/fold'

const types = ['input', 'textarea', 'number', 'switch', 'select', 'radio', 'checkbox', 'date', 'time', 'color', 'image', 'json', 'flag', 'secret']
type Props = { open: boolean; groups: Group[]; group: Group; setting?: Setting; builtin: boolean; load: () => Promise<unknown>; onClose: () => void }
type Values = Pick<Setting, 'title' | 'key' | 'group_id' | 'type' | 'options' | 'props' | 'describe' | 'sort'> & { values?: string }

// SettingDrawer edits a setting's definition.
export function SettingDrawer({ open, groups, group, setting, builtin, load, onClose }: Props) {
  const { of, save: store, form } = useEditor('/system/setting', setting, valuesOf)

  async function save({ values, ...rest }: Values) {
    // The value has its own form control on the page; it is sent along if it was changed
    // here.
    const body = of && values === shown(of) ? rest : { ...rest, values: values ?? '' }
    if (of && of.type === 'secret' && rest.type === 'secret' && values === undefined) delete (body as Values).values
    await store(body).catch(byRows)
    await load()
  }

  const last = group.settings.at(-1)?.sort ?? 0
  return (
    <FormDrawer<Values>
      history={of && { collection: 'setting', id: of.id }}
      open={open}
      onClose={onClose}
      save={save}
      size={560}
      title={of ? t('settings.edit', { name: `${group.key}.${of.key}` }) : t('settings.create')}
      {...form({ group_id: group.id, type: 'input', options: [], props: [], describe: '', sort: last + 10, values: '' })}
    >
      {(form) => <Fields form={form} groups={groups} stored={of} builtin={builtin} />}
    </FormDrawer>
  )
}

function valuesOf({ title, key, group_id, type, options, props, describe, sort, ...s }: Setting): Values {
  return { title, key, group_id, type, options, props, describe, sort, values: type === 'secret' ? undefined : s.values }
}

function shown(s: Setting): string | undefined {
  return s.type === 'secret' ? undefined : s.values
}

function Fields({ form, groups, stored, builtin }: { form: FormInstance<Values>; groups: Group[]; stored?: Setting; builtin: boolean }) {
  const type = Form.useWatch('type', form) ?? stored?.type ?? 'input'
  const options = (Form.useWatch('options', form) ?? []) as Option[]
  const props = (Form.useWatch('props', form) ?? []) as Prop[]
  const required = [{ required: true, message: t('form.required') }]
  const of = { type, options, props, values: stored?.type === type ? stored.values : '' }
  return (
    <>
      {builtin && <Alert type="info" showIcon title={t('settings.builtin.fixed')} style={{ marginBottom: 16 }} />}
      <Form.Item name="title" label={t('settings.title')} rules={required}>
        <Input maxLength={100} />
      </Form.Item>
      <Form.Item name="key" label={t('settings.key')} extra={t('settings.key.text')} rules={required}>
        <Input maxLength={64} disabled={builtin} spellCheck={false} />
      </Form.Item>
      <Form.Item name="describe" label={t('describe')} extra={t('settings.describe.text')}>
        <TextArea maxLength={1000} rows={3} />
      </Form.Item>
      <Form.Item name="group_id" label={t('settings.group')} rules={required}>
        <Select disabled={builtin} options={groups.map((g) => ({ value: g.id, label: given(g.title) }))} showSearch={byLabel} />
      </Form.Item>
      <Form.Item name="type" label={t('settings.type')} rules={required} extra={type === 'secret' ? t('settings.type.secret.text') : undefined}>
        <Select
          disabled={builtin}
          options={types.map((value) => ({ value, label: t(`settings.type.${value}` as Key) }))}
          onChange={(to: string) => form.setFieldValue('values', stored?.type === to ? shown(stored) : to === 'secret' ? undefined : '')}
        />
      </Form.Item>
      <Shape type={type} options={options.length > 0} disabled={builtin} />
      <Form.Item name="values" label={t('settings.value')}>
        <FormControl of={of} label={t('settings.value')} />
      </Form.Item>
      <SortField extra={t('settings.sort.text')} />
    </>
  )
}
