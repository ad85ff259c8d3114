import { Checkbox, Form } from 'antd'
import { post } from '../../api/request'
import { t } from '../../i18n'
import { useAction } from '../../ui/useAction'
import { host, type Webhook } from './hook'
import { Question } from '../../ui/Question'

type Props = { open: boolean; hook: Webhook; onClose: () => void; onDone: () => Promise<void> }

// Resume ends a pause, or makes the next attempt now.
export function Resume({ open, hook, onClose, onDone }: Props) {
  const { notify } = useAction()
  const retries = hook.state === 'retrying'

  async function run({ latest }: { latest: boolean }) {
    await post(`/system/webhook/${hook.id}/resume`, { latest }, { quiet: true })
    notify(t(retries ? 'webhooks.retry.done' : 'webhooks.resume.done'))
    await onDone()
  }

  return (
    <Question
      open={open}
      title={retries ? t('webhooks.retry.title') : t('webhooks.resume.title', { name: host(hook) })}
      ok={t(retries ? 'webhooks.retry' : 'webhooks.resume')}
      initial={{ latest: false }}
      run={run}
      onClose={onClose}
    >
      {hook.paused && <p style={{ marginTop: 0 }}>{t(`webhooks.text.${hook.paused}`)}</p>}
      <Form.Item name="latest" valuePropName="checked" extra={t('webhooks.latest.hint')} style={{ marginBottom: 0 }}>
        <Checkbox>{t('webhooks.latest')}</Checkbox>
      </Form.Item>
    </Question>
  )
}
