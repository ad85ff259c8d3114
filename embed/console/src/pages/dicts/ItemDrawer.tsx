import { Form, type FormInstance, Input, Radio, Switch, theme } from 'antd'
import { getAll } from '../../api/get-all'
import type { Dict, DictItem } from '../../api/types'
import { type Key, t } from '../../i18n'
import { FormDrawer } from '../../ui/FormDrawer'
import { SortField } from '../../ui/SortField'
import { Shown, states } from './Shown'
import { useEditor } from '../../ui/useEditor'

type Props = { open: boolean; dict: Dict; item?: DictItem; next: number; onSaved: () => Promise<void>; onClose: () => void }
type Values = Pick<DictItem, 'label' | 'value' | 'sort' | 'status'> & { switch: boolean }

const valuesOf = ({ label, value, sort, status, switch: on }: DictItem): Values => ({ label, value, sort, status, switch: on === 1 })

export function ItemDrawer({ open, dict, item, next, onSaved, onClose }: Props) {
  const path = `/system/dict/${dict.id}/item` as const
  // The API has no operation for a single item.
  const load = async (old: DictItem) => (await getAll<DictItem>(path)).find((i) => i.id === old.id) ?? old
  const { of, save: store, form } = useEditor(path, item, valuesOf, load)

  async function save(values: Values) {
    await store(values)
    await onSaved()
  }

  return (
    <FormDrawer<Values>
      history={of && { collection: 'dict_item', id: of.id }}
      open={open}
      onClose={onClose}
      save={save}
      title={of ? t('dicts.item.edit', { name: of.label }) : t('dicts.item.create')}
      {...form({ sort: Math.min(next, 1_000_000), status: 'default', switch: true })}
    >
      {(form) => <Fields form={form} type={dict.type} />}
    </FormDrawer>
  )
}

function Fields({ form, type }: { form: FormInstance<Values>; type: string }) {
  const { token } = theme.useToken()
  const label = Form.useWatch('label', form) ?? ''
  const status = Form.useWatch('status', form) ?? 'default'
  const required = [{ required: true, message: t('form.required') }]
  return (
    <>
      <div
        role="img"
        aria-label={t('dicts.item.shown')}
        style={{ padding: 16, marginBottom: 16, textAlign: 'center', borderRadius: token.borderRadius, border: `1px dashed ${token.colorBorder}` }}
      >
        <Shown type={type} status={status} label={label || t('dicts.item.label')} />
      </div>
      <Form.Item name="label" label={t('dicts.item.label')} extra={t('dicts.item.label.text')} rules={required}>
        <Input maxLength={200} />
      </Form.Item>
      <Form.Item name="value" label={t('dicts.item.value')} extra={t('dicts.item.value.text')} rules={required}>
        <Input maxLength={200} spellCheck={false} />
      </Form.Item>
      <Form.Item name="status" required label={t('dicts.item.status')} extra={type === 'default' ? t('dicts.item.status.plain') : undefined}>
        <Radio.Group>
          {states.map((state) => (
            <Radio key={state} value={state}>
              <Shown type={type === 'default' ? 'badge' : type} status={state} label={t(`dicts.status.${state}` as Key)} />
            </Radio>
          ))}
        </Radio.Group>
      </Form.Item>
      <SortField extra={t('dicts.item.sort.text')} />
      <Form.Item name="switch" required label={t('enabled')} extra={t('dicts.item.switch.text')} valuePropName="checked">
        <Switch />
      </Form.Item>
    </>
  )
}
