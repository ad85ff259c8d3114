import { Card, Descriptions, Empty, Flex, Skeleton, Typography } from 'antd'
import { useState } from 'react'
import { useLocation, useNavigate } from 'react-router'
import { get } from '../../api/request'
import { useAccount } from '../../app/account'
import { t } from '../../i18n'
import { Actions } from '../../ui/Actions'
import { count } from '../../ui/format'
import { Head } from '../../ui/Head'
import { Time } from '../../ui/Time'
import { type Leave, useRecord } from '../../ui/useRecord'
import { everything, useChanges } from '../../ui/useChanges'
import { useQueryParams } from '../../ui/useQueryParams'
import { usePoll } from '../../ui/usePoll'
import { useWider } from '../../ui/useWider'
import { words } from '../../ui/words'
import { Attention } from './Attention'
import { Last, Owner, State, Types } from './cells'
import { Deliveries } from './Deliveries'
import { clock, host, moving, type Webhook } from './hook'
import { useDeliveries } from './useDeliveries'
import { useWebhooks } from './useWebhooks'

const back = '/system/webhook'

const find = (id: number, signal: AbortSignal): Promise<Webhook> => get(`/system/webhook/${id}`, {}, { signal, quiet: true })

// WebhookPage is the page of one webhook: its state, what can be done, and its deliveries.
export function WebhookPage({ id }: { id: number }) {
  const located = useLocation().state as { from?: string } | null
  const [from] = useState(located?.from ?? back)
  const { read: hook, failure, reload, refresh, fresh, removing } = useRecord(find, id)
  useChanges(everything, refresh, fresh)
  usePoll(refresh, 3, hook !== undefined && moving(hook))
  if (hook && !failure) return <Shown hook={hook} from={from} reload={reload} removing={removing} />
  return (
    <>
      <Head title={t('menu.system.webhook')} from={from} back={t('webhooks.back')} />
      {failure ? (
        <Empty image={Empty.PRESENTED_IMAGE_SIMPLE} description={failure.status === 404 ? t('webhooks.gone') : words(failure)} />
      ) : (
        <Skeleton active title={false} />
      )}
    </>
  )
}

type ShownProps = { hook: Webhook; from: string; reload: () => Promise<void>; removing: Leave }

function Shown({ hook, from, reload, removing }: ShownProps) {
  const { may } = useAccount()
  const navigate = useNavigate()
  const { params } = useQueryParams()
  const list = useDeliveries(hook.id, { success: params.get('success'), type: params.get('type') }, hook.last_at)
  const hooks = useWebhooks(async () => {
    await Promise.all([reload(), list.reload()])
  })
  const sends = may('system.webhook.send')
  const takes = may('system.webhook.update') && may('system.webhook.create')
  return (
    <>
      <Head
        from={from}
        back={t('webhooks.back')}
        title={
          <Flex gap={12} align="center" wrap>
            <bdi>{host(hook)}</bdi>
            <State hook={hook} />
          </Flex>
        }
      >
        <Actions
          first={may('system.webhook.update') && { label: t('edit'), onClick: () => hooks.edit(hook) }}
          label={t('more.of', { name: host(hook) })}
          more={[
            sends &&
              (hook.state === 'retrying' || hook.state === 'paused') && {
                label: t(hook.state === 'retrying' ? 'webhooks.retry' : 'webhooks.resume'),
                onClick: () => hooks.resume(hook),
              },
            sends && { label: t('webhooks.replay'), onClick: () => hooks.replay(hook) },
            may('system.webhook.secret') && { label: t('webhooks.rotate'), onClick: () => void hooks.rotate(hook) },
            may('system.webhook.delete') && {
              label: t('delete'),
              danger: true,
              onClick: () => void hooks.remove(hook, (remove) => removing(remove).then(() => navigate(back))),
            },
          ]}
        />
      </Head>
      <Attention hook={hook} hooks={hooks} sends={sends} takes={takes} />
      <Facts hook={hook} />
      <Deliveries
        hook={hook}
        list={list}
        replay={sends ? (seq) => hooks.replayEntry(hook, seq) : undefined}
        test={sends ? () => hooks.test(hook) : undefined}
      />
      {hooks.panels}
    </>
  )
}

function Facts({ hook }: { hook: Webhook }) {
  const lg = useWider('lg')
  return (
    <Card style={{ marginBottom: 20 }}>
      <Descriptions
        column={lg ? 2 : 1}
        size="small"
        styles={{ content: { overflowWrap: 'anywhere', minWidth: 0 } }}
        items={[
          { label: t('webhooks.url'), children: <Address url={hook.url} /> },
          { label: t('describe'), children: <bdi>{hook.description || '—'}</bdi> },
          { label: t('webhooks.types'), children: <Types types={hook.types} all /> },
          { label: t('webhooks.owner'), children: <Owner hook={hook} /> },
          { label: t('webhooks.last'), children: <Last hook={hook} /> },
          { label: t('webhooks.waiting'), children: t('webhooks.waiting.n', { n: count(hook.behind) }) },
          ...(hook.replaying ? [{ label: t('webhooks.replaying'), children: t('webhooks.waiting.n', { n: count(hook.replaying) }) }] : []),
          ...(hook.previous_until ? [{ label: t('webhooks.previous'), children: clock(hook.previous_until) }] : []),
          { label: t('updated_at'), children: <Time at={hook.updated_at} /> },
        ]}
      />
    </Card>
  )
}

// Address is a URL, which can be long.
function Address({ url }: { url: string }) {
  return (
    <Typography.Paragraph style={{ margin: 0 }} ellipsis={{ rows: 3, expandable: true, symbol: t('more') }}>
      {url}
    </Typography.Paragraph>
  )
}
