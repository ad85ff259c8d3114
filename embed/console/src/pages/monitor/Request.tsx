import { ArrowLeftOutlined } from '@ant-design/icons'
import { Alert, Button, Card, Descriptions, Flex, Skeleton, Typography } from 'antd'
import { type ReactNode, useEffect, useState } from 'react'
import { useLocation, useNavigate, useParams } from 'react-router'
import { Failure, get } from '../../api/request'
import type { RequestEvent, RequestStory } from '../../api/types'
import { t } from '../../i18n'
import { Copy } from '../../ui/Copy'
import { bytes, count, duration } from '../../ui/format'
import { OnNode } from '../../ui/OnNode'
import { words } from '../../ui/words'
import { Code, Marks, Moment, Sampled, Status, Who } from './parts'
import { Waterfall } from './Waterfall'

// Request shows one request from start to response.
export function Request() {
  const { id = '' } = useParams()
  const [story, setStory] = useState<RequestStory>()
  const [failure, setFailure] = useState<Failure>()
  useEffect(() => {
    const control = new AbortController()
    // biome-ignore lint/nursery/useReactCompiler: reset for another request
    setStory(undefined)
    setFailure(undefined)
    get(`/system/monitor/request/${encodeURIComponent(id)}`, {}, { signal: control.signal, quiet: true }).then(setStory, (cause) => {
      if (cause instanceof Failure) setFailure(cause)
    })
    return () => control.abort()
  }, [id])

  if (failure)
    return (
      <>
        <Head title={t('monitor.kind.request')} />
        <Alert type="warning" showIcon title={failure.status === 404 ? t('story.gone') : words(failure)} />
      </>
    )
  if (!story)
    return (
      <>
        <Head title={t('monitor.kind.request')} />
        <Skeleton active title={false} />
      </>
    )
  const { request, events } = story
  return (
    <Flex vertical gap={16}>
      <Head title={`${request.method} ${request.uri}`}>
        <OnNode node={story.node} />
        <Copy text={request.request_id} label={t('story.copy')} />
      </Head>
      {request.message && <Alert type={request.status >= 500 ? 'error' : 'warning'} showIcon title={request.message} description={request.error} />}
      <Facts request={request} />
      <Waterfall request={request} events={events} />
      <Content request={request} />
    </Flex>
  )
}

function Head({ title, children }: { title: string; children?: ReactNode }) {
  const navigate = useNavigate()
  const state = useLocation().state as { from?: string } | null
  return (
    <Flex gap={8} align="center" wrap>
      <Button
        type="text"
        icon={<ArrowLeftOutlined />}
        aria-label={t('story.back')}
        title={t('story.back')}
        onClick={() => void navigate(state?.from ?? '/system/monitor/request')}
      />
      <Typography.Title
        level={1}
        style={{ fontSize: 20, margin: 0, flex: '1 1 240px', overflowWrap: 'anywhere' }}
        ellipsis={{ rows: 3, expandable: true, symbol: t('more') }}
      >
        {title}
      </Typography.Title>
      {children}
    </Flex>
  )
}

function Facts({ request: r }: { request: RequestEvent }) {
  return (
    <Card>
      <Descriptions
        size="small"
        column={{ xs: 1, lg: 2, xl: 4 }}
        styles={{ content: { overflowWrap: 'anywhere', fontVariantNumeric: 'tabular-nums' } }}
        items={[
          {
            label: t('status'),
            children: (
              <>
                <Status status={r.status} /> <Marks slow={r.slow} /> <Sampled times={r.sampled} />
              </>
            ),
          },
          { label: t('monitor.duration'), children: duration(r.duration_ms) },
          { label: t('monitor.store'), children: duration(r.store_ms) },
          { label: t('monitor.wait'), children: duration(r.wait_ms) },
          ...(r.hash_ms ? [{ label: t('monitor.hash'), children: duration(r.hash_ms) }] : []),
          ...(r.hash_wait_ms ? [{ label: t('monitor.hash_wait'), children: duration(r.hash_wait_ms) }] : []),
          ...(r.image_ms ? [{ label: t('monitor.image'), children: duration(r.image_ms) }] : []),
          { label: t('time'), children: <Moment at={r.recorded_at} /> },
          { label: t('sign_in.username'), children: <Who user={r.user} withKey /> },
          { label: t('address'), children: r.address },
          { label: t('story.host'), children: r.host_name },
          { label: t('monitor.filter.route'), children: r.route ? <Code>{r.route}</Code> : '—' },
          { label: t('story.handler'), children: r.handler ? <Code>{r.handler}</Code> : '—' },
          { label: t('story.sent'), children: `${bytes(r.bytes_in)} → ${bytes(r.bytes_out)}` },
          { label: t('monitor.events'), children: count(r.events) },
          { label: t('monitor.filter.request_id'), children: <Code>{r.request_id}</Code> },
          { label: t('device'), children: r.user_agent || '—', span: 'filled' },
        ]}
      />
    </Card>
  )
}

// pretty formats JSON; other text is unchanged.
function pretty(text: string): string {
  try {
    return JSON.stringify(JSON.parse(text), null, 2)
  } catch {
    return text
  }
}

function Content({ request }: { request: RequestEvent }) {
  return (
    <Flex gap={16} wrap>
      <Text title={t('story.headers')} text={JSON.stringify(request.headers, null, 2)} />
      {request.payload && <Text title={t('story.payload')} text={pretty(request.payload)} />}
    </Flex>
  )
}

function Text({ title, text }: { title: string; text: string }) {
  return (
    <Card title={title} extra={<Typography.Text type="secondary">{t('story.redacted')}</Typography.Text>} style={{ flex: '1 1 320px', minWidth: 0 }}>
      <pre
        tabIndex={0}
        aria-label={title}
        style={{ margin: 0, maxHeight: 320, overflow: 'auto', whiteSpace: 'pre-wrap', overflowWrap: 'anywhere', fontSize: 13 }}
      >
        {text}
      </pre>
    </Card>
  )
}
