import { Alert, Button, Flex } from 'antd'
import { t } from '../../i18n'
import { clock, type Webhook } from './hook'
import type { Hooks } from './useWebhooks'

type Props = { hook: Webhook; hooks: Hooks; sends: boolean; takes: boolean }

// Attention says why a webhook does not send, and what can be done.
export function Attention({ hook, hooks, sends, takes }: Props) {
  const text = textOf(hook)
  if (!text) return null
  const retries = hook.state === 'retrying'
  const stopped = hook.state === 'paused'
  return (
    <Alert
      type={retries ? 'warning' : hook.state === 'disabled' ? 'info' : 'error'}
      showIcon
      role="status"
      style={{ marginBottom: 16 }}
      title={
        <Flex vertical gap={8} align="start">
          <span style={{ overflowWrap: 'anywhere' }}>{text}</span>
          <Flex gap={8} wrap>
            {sends && (retries || stopped) && (
              <Button size="small" onClick={() => hooks.resume(hook)}>
                {t(retries ? 'webhooks.retry' : 'webhooks.resume')}
              </Button>
            )}
            {takes && hook.state === 'no_owner' && (
              <Button size="small" onClick={() => hooks.edit(hook)}>
                {t('edit')}
              </Button>
            )}
          </Flex>
        </Flex>
      }
    />
  )
}

function textOf({ state, paused, blocked, attempts, next_at }: Webhook): string {
  switch (state) {
    case 'active':
      return ''
    case 'retrying':
      return `${t('webhooks.text.retrying', { event: blocked, n: attempts })} ${next_at ? t('webhooks.text.next', { time: clock(next_at, true) }) : ''}`
    case 'paused':
      return paused ? t(`webhooks.text.${paused}`) : t('webhooks.state.paused')
    default:
      return t(`webhooks.text.${state}`)
  }
}
