import { Form, InputNumber } from 'antd'
import { t } from '../i18n'

// SortField is the place of a record in its list.
export function SortField({ extra, disabled }: { extra?: string; disabled?: boolean }) {
  return (
    <Form.Item name="sort" label={t('sort')} extra={extra} rules={[{ required: true, message: t('form.required') }]}>
      <InputNumber min={-1_000_000} max={1_000_000} precision={0} style={{ width: 160 }} disabled={disabled} />
    </Form.Item>
  )
}
