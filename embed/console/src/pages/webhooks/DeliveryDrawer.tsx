import { Alert, Descriptions, Flex, theme, Typography } from 'antd'
import dayjs from 'dayjs'
import { useState } from 'react'
import { Link } from 'react-router'
import type { DeliveryDetail } from '../../api/types'
import { useAccount } from '../../app/account'
import { t } from '../../i18n'
import { Copy } from '../../ui/Copy'
import { duration } from '../../ui/format'
import { layOut, valid } from '../../ui/json'
import { sentence } from '../../ui/sentence'
import { useGet } from '../../ui/useGet'
import { ViewDrawer } from '../../ui/ViewDrawer'
import { Kind, Result } from './cells'
import { entryOf } from './hook'

type Props = {
  open: boolean
  title: string
  of?: { hook: number; id: number } // the delivery to load
  delivery?: DeliveryDetail // or one that is known
  replay?: (seq: number) => Promise<void>
  onClose: () => void
}

// DeliveryDrawer shows what was sent and answered, and sends it again.
export function DeliveryDrawer({ open, title, of, delivery, replay, onClose }: Props) {
  const [busy, setBusy] = useState(false)
  const { data, loading } = useGet(of && open ? `/system/webhook/${of.hook}/delivery/${of.id}` : '', {}, false)
  const [loaded, setLoaded] = useState(data)
  if (data && data !== loaded) setLoaded(data)
  const shown = delivery ?? (loaded?.id === of?.id ? loaded : undefined)
  const seq = shown && entryOf(shown)

  async function again(seq: number) {
    setBusy(true)
    await replay?.(seq)
    setBusy(false)
    onClose()
  }

  return (
    <ViewDrawer
      open={open}
      title={title}
      loading={loading}
      action={replay && seq ? { label: t('webhooks.replay.this'), busy, onClick: () => void again(seq) } : undefined}
      onClose={onClose}
    >
      {shown && <Shown delivery={shown} seq={seq} />}
    </ViewDrawer>
  )
}

function Shown({ delivery: d, seq }: { delivery: DeliveryDetail; seq?: number }) {
  const { may } = useAccount()
  return (
    <Flex vertical gap={24}>
      {d.error && <Alert type="error" showIcon title={sentence(d.error)} />}
      <Descriptions
        size="small"
        column={1}
        styles={{ content: { overflowWrap: 'anywhere', minWidth: 0 } }}
        items={[
          {
            label: t('webhooks.event'),
            children: (
              <Flex gap={8} wrap>
                {d.type} <Kind kind={d.kind} />
              </Flex>
            ),
          },
          {
            label: t('webhooks.event.id'),
            children: (
              <span>
                {d.event || '—'} {seq && may('system.audit.query') && <Link to={`/system/audit/${seq}`}>{t('webhooks.entry')}</Link>}
              </span>
            ),
          },
          { label: t('time'), children: dayjs(d.at).format('YYYY-MM-DD HH:mm:ss.SSS') },
          { label: t('webhooks.attempt'), children: d.attempt },
          { label: t('webhooks.result'), children: <Result of={d} /> },
          { label: t('webhooks.duration'), children: duration(d.duration_ms) },
        ]}
      />
      <Code title={t('webhooks.request')} text={d.request} />
      <Code title={t('webhooks.response')} text={d.response} hint={d.response && t('webhooks.response.hint')} />
    </Flex>
  )
}

// Code is a body, with JSON laid out.
function Code({ title, text, hint }: { title: string; text: string; hint?: string }) {
  const { token } = theme.useToken()
  const shown = valid(text) ? layOut(text) : text
  return (
    <section aria-label={title}>
      <Flex justify="space-between" align="center" gap={8} style={{ marginBottom: 8 }}>
        <span>
          <Typography.Text strong>{title}</Typography.Text> {hint && <Typography.Text type="secondary">{hint}</Typography.Text>}
        </span>
        {text && <Copy text={shown} />}
      </Flex>
      {text ? (
        <pre
          tabIndex={0}
          aria-label={title}
          dir="auto"
          style={{
            margin: 0,
            padding: 12,
            overflow: 'auto',
            maxHeight: 420,
            fontSize: 13,
            whiteSpace: 'pre-wrap',
            overflowWrap: 'anywhere',
            borderRadius: token.borderRadius,
            background: token.colorFillTertiary,
          }}
        >
          {shown}
        </pre>
      ) : (
        <Typography.Text type="secondary">{t('webhooks.response.empty')}</Typography.Text>
      )}
    </section>
  )
}
