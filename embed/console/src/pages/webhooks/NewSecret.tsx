import { Alert, Button, Flex, Input, Modal } from 'antd'
import { t } from '../../i18n'
import { Copy } from '../../ui/Copy'
import { clock, host, type WebhookWithSecret } from './hook'

type Props = { open: boolean; hook: WebhookWithSecret; onClose: () => void }

// NewSecret shows a secret that can't be retrieved again. It closes only by its button, not
// by a click outside.
export function NewSecret({ open, hook, onClose }: Props) {
  const { secret = '', previous_until } = hook
  return (
    <Modal
      title={t('webhooks.secret.of', { name: host(hook) })}
      open={open}
      closable={false}
      keyboard={false}
      mask={{ closable: false }}
      destroyOnHidden
      footer={
        <Button type="primary" onClick={onClose}>
          {t('webhooks.secret.done')}
        </Button>
      }
    >
      <p style={{ marginTop: 0 }}>
        {t('webhooks.secret.use')} {previous_until && t('webhooks.secret.previous', { time: clock(previous_until) })}
      </p>
      <Flex gap={8} style={{ margin: '16px 0' }}>
        <Input readOnly aria-label={t('webhooks.secret')} value={secret} style={{ fontFamily: 'monospace' }} onFocus={(e) => e.target.select()} />
        <Copy text={secret} />
      </Flex>
      <Alert type="warning" showIcon title={t('webhooks.secret.once')} />
    </Modal>
  )
}
