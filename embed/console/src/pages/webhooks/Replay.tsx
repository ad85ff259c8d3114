import { Form, type FormRule, InputNumber } from 'antd'
import { post } from '../../api/request'
import { t } from '../../i18n'
import { useAction } from '../../ui/useAction'
import type { Webhook } from './hook'
import { Question } from '../../ui/Question'

type Props = { open: boolean; hook: Webhook; onClose: () => void; onDone: () => Promise<void> }

type Values = { from: number; until?: number }

const after: FormRule = ({ getFieldValue }) => ({
  validator: (_, until?: number) =>
    until && until < Number(getFieldValue('from')) ? Promise.reject(new Error(t('webhooks.replay.order'))) : Promise.resolve(),
})

// Replay sends the events of a range of entries again.
export function Replay({ open, hook, onClose, onDone }: Props) {
  const { notify } = useAction()

  async function run({ from, until }: Values) {
    await post(`/system/webhook/${hook.id}/replay`, { from, until: until ?? from }, { quiet: true })
    notify(t('webhooks.replay.done'))
    await onDone()
  }

  return (
    <Question<Values> open={open} title={t('webhooks.replay')} ok={t('webhooks.replay.ok')} initial={{}} run={run} onClose={onClose}>
      <p style={{ marginTop: 0 }}>{t('webhooks.replay.text')}</p>
      <div style={{ display: 'grid', gap: '0 16px', gridTemplateColumns: 'repeat(auto-fit, minmax(140px, 1fr))' }}>
        <Form.Item name="from" label={t('webhooks.replay.from')} rules={[{ required: true, message: t('form.required') }]}>
          <InputNumber min={1} precision={0} style={{ width: '100%' }} />
        </Form.Item>
        <Form.Item name="until" label={t('webhooks.replay.until')} dependencies={['from']} rules={[after]}>
          <InputNumber min={1} precision={0} style={{ width: '100%' }} />
        </Form.Item>
      </div>
    </Question>
  )
}
