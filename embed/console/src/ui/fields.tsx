import { Form, Input, Switch } from 'antd'
import { t } from '../i18n'

// Fields that the forms of many records have.

// NameField is the name of a record, which it must have.
export function NameField({ disabled }: { disabled?: boolean }) {
  return (
    <Form.Item name="name" label={t('name')} rules={[{ required: true, whitespace: true, message: t('form.required') }]}>
      <Input maxLength={64} disabled={disabled} />
    </Form.Item>
  )
}

// StatusField is whether a record is enabled.
export function StatusField({ extra, disabled }: { extra?: string; disabled?: boolean }) {
  return (
    <Form.Item name="status" label={t('enabled')} required valuePropName="checked" extra={extra}>
      <Switch disabled={disabled} />
    </Form.Item>
  )
}
