import { Alert, Button, Empty, Flex, Select, Typography } from 'antd'
import { lazy, Suspense } from 'react'
import type { Delivery } from '../../api/types'
import { t } from '../../i18n'
import { Bar } from '../../ui/Bar'
import { Choice } from '../../ui/Choice'
import { duration } from '../../ui/format'
import { OnNode } from '../../ui/OnNode'
import { Records } from '../../ui/Records'
import { Time } from '../../ui/Time'
import { useGet } from '../../ui/useGet'
import { useLastValue } from '../../ui/useLastValue'
import { useQueryParams } from '../../ui/useQueryParams'
import { wide } from '../../ui/Wide'
import { words } from '../../ui/words'
import { Kind, Result } from './cells'
import type { Webhook } from './hook'
import type { useDeliveries } from './useDeliveries'
import { byLabel } from '../../ui/fold'

const DeliveryDrawer = lazy(async () => ({ default: (await import('./DeliveryDrawer')).DeliveryDrawer }))

type Props = {
  hook: Webhook
  list: ReturnType<typeof useDeliveries>
  replay?: (seq: number) => Promise<void> // undefined without permission
  test?: () => Promise<void>
}

// Deliveries lists what a webhook has sent. The filters and the open delivery are in the URL.
export function Deliveries({ hook, list, replay, test }: Props) {
  const { params, set } = useQueryParams()
  const types = useGet('/system/event-type').data?.data ?? []
  const opened = Number(params.get('delivery')) || undefined
  const kept = useLastValue(opened)
  const open = (id?: number) => set({ delivery: id ? String(id) : undefined })
  const narrowed = params.has('success') || params.has('type')
  if (list.failure) return <Alert type="info" showIcon title={list.failure.status === 403 ? t('webhooks.deliveries.denied') : words(list.failure)} />
  return (
    <section>
      <Typography.Title level={2} style={{ fontSize: 16, margin: '0 0 8px' }}>
        {t('webhooks.deliveries')}
      </Typography.Title>
      <OnNode node={list.node} />
      <Bar
        list={{ params, set, reload: list.reload }}
        search={false}
        filters={
          <>
            <Choice
              list={{ params, set }}
              name="success"
              label={t('webhooks.result')}
              options={(['1', '0'] as const).map((value) => ({ value, label: t(`webhooks.result.${value}`) }))}
            />
            <Select<string>
              allowClear
              showSearch={byLabel}
              style={{ width: 200 }}
              placeholder={t('webhooks.event')}
              aria-label={t('webhooks.event')}
              value={params.get('type') ?? undefined}
              onChange={(type?: string) => set({ type })}
              options={['webhook.test', 'webhook.lost', ...types.map(({ type }) => type)].map((value) => ({ value, label: value }))}
            />
          </>
        }
        actions={test && <Button onClick={() => void test()}>{t('webhooks.test')}</Button>}
      />
      <Records<Delivery>
        {...wide}
        rowKey="id"
        size="middle"
        pagination={false}
        loading={list.loading}
        dataSource={list.deliveries}
        columns={columns(open)}
        locale={{
          emptyText: list.loading ? (
            ' '
          ) : (
            <Empty image={Empty.PRESENTED_IMAGE_SIMPLE} description={t(narrowed ? 'empty.narrowed' : 'webhooks.deliveries.empty')}>
              {narrowed && <Button onClick={() => set({ success: undefined, type: undefined })}>{t('empty.clear')}</Button>}
            </Empty>
          ),
        }}
      />
      {list.more && (
        <Flex style={{ marginTop: 16 }}>
          <Button loading={list.busy} onClick={() => void list.more?.()}>
            {t('webhooks.deliveries.older')}
          </Button>
        </Flex>
      )}
      <Suspense>
        {kept && (
          <DeliveryDrawer open={opened !== undefined} title={t('webhooks.delivery')} of={{ hook: hook.id, id: kept }} replay={replay} onClose={() => open()} />
        )}
      </Suspense>
    </section>
  )
}

function columns(open: (id: number) => void) {
  return [
    {
      title: t('webhooks.event'),
      key: 'event',
      width: 280,
      render: (_: unknown, one: Delivery) => (
        <Flex vertical align="start" style={{ maxWidth: '100%' }}>
          <Flex gap={8} align="center" wrap>
            <Button type="link" size="small" style={{ padding: 0 }} aria-haspopup="dialog" onClick={() => open(one.id)}>
              {one.type}
            </Button>
            <Kind kind={one.kind} />
          </Flex>
          {one.event && (
            <span className="second" style={{ overflowWrap: 'anywhere' }}>
              {one.event}
            </span>
          )}
        </Flex>
      ),
    },
    { title: t('time'), dataIndex: 'at', render: (at: string) => <Time at={at} /> },
    {
      title: t('webhooks.result'),
      key: 'result',
      render: (_: unknown, one: Delivery) => (
        <Flex vertical align="start" gap={4}>
          <Result of={one} />
          {one.error && (
            <Typography.Text type="secondary" style={{ overflowWrap: 'anywhere' }}>
              {one.error}
            </Typography.Text>
          )}
        </Flex>
      ),
    },
    { title: t('webhooks.attempt'), dataIndex: 'attempt', align: 'end' as const },
    { title: t('webhooks.duration'), dataIndex: 'duration_ms', align: 'end' as const, render: duration },
  ]
}
