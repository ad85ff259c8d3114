import { Flex, Tag, Typography } from 'antd'
import { Link } from 'react-router'
import type { Delivery } from '../../api/types'
import { type Key, t } from '../../i18n'
import { PersonLink } from '../../ui/PersonLink'
import { Time } from '../../ui/Time'
import { clock, parts, type Webhook } from './hook'

const colors = { active: 'success', retrying: 'warning', paused: 'error', disabled: 'default', no_owner: 'error', no_secret: 'error' }

// State is what a webhook does, in words.
export function State({ hook }: { hook: Webhook }) {
  const text =
    hook.state === 'paused' && hook.paused
      ? t(`webhooks.paused.${hook.paused}`)
      : hook.state === 'retrying' && hook.failing_since
        ? t('webhooks.state.retrying.since', { time: clock(hook.failing_since) })
        : t(`webhooks.state.${hook.state}`)
  return (
    <Tag color={colors[hook.state]} style={{ marginInlineEnd: 0 }}>
      {text}
    </Tag>
  )
}

// Address is a URL with its host in bold, and the description.
export function Address({ hook, to }: { hook: Webhook; to: string }) {
  const { before, host, after } = parts(hook.url)
  return (
    <Flex vertical style={{ width: 240, maxWidth: '100%' }}>
      <Typography.Text ellipsis title={hook.url}>
        <Link to={to} style={{ fontWeight: 'normal' }}>
          <bdi>
            {before}
            <strong>{host}</strong>
            {after}
          </bdi>
        </Link>
      </Typography.Text>
      {hook.description && (
        <Typography.Text type="secondary" ellipsis style={{ fontSize: 12 }} title={hook.description}>
          <bdi>{hook.description}</bdi>
        </Typography.Text>
      )}
    </Flex>
  )
}

const most = 2

export const typeName = (type: string): string => (type === '*' ? t('webhooks.types.all') : type)

// Types are the first types of events.
export function Types({ types, all = false }: { types: string[]; all?: boolean }) {
  const shown = all || types.length <= most ? types : types.slice(0, most)
  const rest = types.slice(shown.length)
  return (
    <Flex gap={4} wrap style={all ? undefined : { maxWidth: 200 }}>
      {shown.map((type) => (
        <Tag key={type} style={{ marginInlineEnd: 0 }}>
          {typeName(type)}
        </Tag>
      ))}
      {rest.length > 0 && (
        <Tag title={rest.map(typeName).join(t('list.separator'))} style={{ marginInlineEnd: 0 }}>
          {t('webhooks.types.more', { n: rest.length })}
        </Tag>
      )}
    </Flex>
  )
}

// Status is the HTTP status of a response; 0 for none.
function Status({ status, success, none = t('webhooks.no_response') }: { status: number; success: boolean; none?: string }) {
  return (
    <Tag color={success ? 'success' : 'error'} style={{ marginInlineEnd: 0 }}>
      {status || none}
    </Tag>
  )
}

// Result is the response to a delivery. Events that were lost before they could be sent have none.
export function Result({ of }: { of: Delivery }) {
  return <Status status={of.status} success={of.success === 1} none={of.type === 'webhook.lost' ? t('webhooks.not_sent') : undefined} />
}

// Last is when something was last sent, and the response.
export function Last({ hook, compact = false }: { hook: Webhook; compact?: boolean }) {
  if (!hook.last_at) return <Typography.Text type="secondary">{t('webhooks.last.none')}</Typography.Text>
  return (
    <Flex gap="0 8px" align="center" wrap style={compact ? { maxWidth: 140 } : undefined}>
      <Time at={hook.last_at} />
      <Status status={hook.last_status} success={hook.last_status >= 200 && hook.last_status < 300} />
    </Flex>
  )
}

// Kind marks what is not sent for the first time.
export function Kind({ kind }: { kind: string }) {
  return kind === 'event' ? null : <Tag variant="filled">{t(`webhooks.kind.${kind}` as Key)}</Tag>
}

// Owner is whose permissions limit what a webhook sends.
export function Owner({ hook }: { hook: Webhook }) {
  return hook.owner_name ? <PersonLink name={hook.owner_name} id={hook.owner_id} /> : t('webhooks.owner.none')
}
