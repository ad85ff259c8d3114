import { Card, Checkbox, Descriptions, type DescriptionsProps, Empty, Flex, Segmented, Table, Tag, theme, Typography } from 'antd'
import { useMemo, useState } from 'react'
import type { RequestEvent, RequestPart } from '../../api/types'
import { t } from '../../i18n'
import { bytes, count, duration } from '../../ui/format'
import { pageButtons } from '../../ui/page-buttons'
import { wide } from '../../ui/Wide'
import { About, Code, Marks } from './parts'
import { redisSays } from './redis'
import { type Laid, lay } from './story'
import { word } from './words'

const remarkable = (part: Laid) =>
  part.kind === 'query' ? part.event.slow === 1 || part.event.n_plus_one === 1 : part.kind === 'auth' && ['denied', 'failed'].includes(part.event.result)

// Waterfall shows the operations of a request along its timeline.
export function Waterfall({ request, events }: { request: RequestEvent; events: RequestPart[] }) {
  const { parts, whole } = useMemo(() => lay(request, events), [request, events])
  const [kind, setKind] = useState('')
  const [marked, setMarked] = useState(false)
  const of = (name: string) => parts.filter((p) => p.kind === name).length
  const shown = parts.filter((p) => (!kind || p.kind === kind) && (!marked || remarkable(p)))
  const some = parts.filter(remarkable).length
  return (
    <Card title={t('story.events')}>
      <Flex wrap gap={16} align="center" style={{ marginBottom: 12 }}>
        <div style={{ maxWidth: '100%', overflowX: 'auto' }}>
          <Segmented
            value={kind}
            onChange={setKind}
            aria-label={t('monitor.filter.type')}
            options={[
              { value: '', label: `${t('all')} ${parts.length}` },
              ...['query', 'auth', 'cache', 'redis'].filter(of).map((name) => ({ value: name, label: `${word('part', name)} ${of(name)}` })),
            ]}
          />
        </div>
        {some > 0 && (
          <Checkbox checked={marked} onChange={(e) => setMarked(e.target.checked)}>
            {t('story.marked', { n: some })}
          </Checkbox>
        )}
        <Legend />
      </Flex>
      <Table<Laid>
        rowKey="id"
        components={wide.components}
        size="small"
        dataSource={shown}
        tableLayout="fixed"
        scroll={{ x: 860 }}
        pagination={{ defaultPageSize: 100, pageSizeOptions: [100, 500], hideOnSinglePage: true, itemRender: pageButtons }}
        locale={{ emptyText: <Empty image={Empty.PRESENTED_IMAGE_SIMPLE} description={parts.length ? t('empty.narrowed') : t('story.empty')} /> }}
        expandable={{
          expandRowByClick: true,
          expandedRowRender: (part) => <Details part={part} />,
          columnWidth: 40,
          columnTitle: <Unseen>{t('more')}</Unseen>,
        }}
        columns={[
          { title: t('monitor.kind'), dataIndex: 'kind', width: 96, render: (name: Laid['kind']) => <Tag>{word('part', name)}</Tag> },
          { title: t('story.what'), key: 'what', ellipsis: { showTitle: false }, render: (_, part) => <What part={part} /> },
          { title: t('story.offset'), dataIndex: 'at', width: 96, align: 'end', render: (at: number) => duration(Math.max(0, at)) },
          {
            title: t('monitor.duration'),
            key: 'took',
            width: 96,
            align: 'end',
            render: (_, part) => (part.took || part.kind === 'query' ? duration(part.took) : '—'),
          },
          { title: <>0 – {duration(whole)}</>, key: 'bar', width: 280, render: (_, part) => <Bar part={part} whole={whole} /> },
        ]}
      />
    </Card>
  )
}

// Unseen is text for screen readers.
function Unseen({ children }: { children: string }) {
  return <span style={{ position: 'absolute', width: 1, height: 1, overflow: 'hidden', clipPath: 'inset(50%)' }}>{children}</span>
}

function What({ part }: { part: Laid }) {
  switch (part.kind) {
    case 'query':
      return (
        <>
          <Marks slow={part.event.slow} repeated={part.event.n_plus_one} /> <Code>{part.event.statement}</Code>
        </>
      )
    case 'auth':
      return (
        <>
          <Tag color={remarkable(part) ? 'error' : 'success'}>{word('result', part.event.result)}</Tag>{' '}
          {part.event.ability ? <Code>{part.event.ability}</Code> : word('type', part.event.type)}{' '}
          <Typography.Text type="secondary">{part.event.matched_by.join(', ') || part.event.reason}</Typography.Text>
        </>
      )
    case 'cache':
      return (
        <>
          {part.event.cache}: {word('type', part.event.type)} <Code>{part.event.key}</Code>
        </>
      )
    case 'redis':
      return redisSays(part.event)
  }
}

function usePaints() {
  const { token } = theme.useToken()
  return { wait: token.orange7, took: token.blue7, commit: token.purple7, ground: token.colorFillTertiary, tick: token.colorTextQuaternary }
}

// Bar shows when an operation ran: queued, processing, and writing to disk.
function Bar({ part, whole }: { part: Laid; whole: number }) {
  const paints = usePaints()
  const place = (from: number, long: number) => ({
    left: `min(${(Math.max(0, from) / whole) * 100}%, 100% - 2px)`,
    width: `max(2px, ${(Math.min(long, whole) / whole) * 100}%)`,
  })
  const piece = (from: number, long: number, background: string) => (
    <span style={{ position: 'absolute', top: 3, height: 8, borderRadius: 2, background, ...place(from, long) }} />
  )
  return (
    <div aria-hidden="true" style={{ position: 'relative', height: 14, borderRadius: 3, background: paints.ground, overflow: 'hidden' }}>
      {part.wait > 0 && piece(part.at - part.wait, part.wait, paints.wait)}
      {part.commit > 0 && piece(part.at + part.took, part.commit, paints.commit)}
      {piece(part.at, part.took, paints.took)}
    </div>
  )
}

function Legend() {
  const paints = usePaints()
  const one = (paint: string, text: string) => (
    <span key={text} style={{ whiteSpace: 'nowrap' }}>
      <span style={{ display: 'inline-block', width: 10, height: 10, borderRadius: 2, background: paint, marginInlineEnd: 6 }} />
      {text}
    </span>
  )
  return (
    <Flex gap={16} wrap>
      {[one(paints.wait, t('monitor.wait')), one(paints.took, t('story.doing')), one(paints.commit, t('monitor.commit'))]}
    </Flex>
  )
}

// Details are all fields of an operation.
function Details({ part }: { part: Laid }) {
  return (
    <Descriptions
      size="small"
      column={{ xs: 1, lg: 2, xl: 3 }}
      items={details(part)}
      styles={{ content: { overflowWrap: 'anywhere', fontVariantNumeric: 'tabular-nums' } }}
    />
  )
}

function details(part: Laid): DescriptionsProps['items'] {
  switch (part.kind) {
    case 'query': {
      const e = part.event
      return [
        { label: t('monitor.filter.statement'), children: <Code>{e.statement}</Code>, span: 'filled' },
        { label: t('monitor.filter.plan'), children: e.plan },
        { label: t('monitor.filter.mode'), children: word('mode', e.mode) },
        { label: t('monitor.filter.connection'), children: e.connection },
        { label: t('monitor.examined'), children: count(e.examined) },
        { label: t('monitor.returned'), children: count(e.returned) },
        { label: t('monitor.bytes'), children: bytes(e.bytes) },
        { label: t('monitor.duration'), children: duration(e.duration_ms) },
        { label: t('monitor.wait'), children: duration(e.wait_ms) },
        { label: t('monitor.commit'), children: duration(e.commit_ms) },
        { label: t('monitor.caller'), children: <Code>{e.caller}</Code> },
      ]
    }
    case 'auth': {
      const e = part.event
      return [
        { label: t('monitor.filter.type'), children: word('type', e.type) },
        { label: t('sign_in.username'), children: <About event={e} /> },
        { label: t('address'), children: e.address },
        { label: t('monitor.filter.ability'), children: e.ability || '—' },
        { label: t('monitor.filter.result'), children: word('result', e.result) },
        { label: t('monitor.filter.reason'), children: e.reason || '—' },
        { label: t('monitor.matched_by'), children: <bdi>{e.matched_by.join(', ') || '—'}</bdi> },
      ]
    }
    case 'cache': {
      const e = part.event
      return [
        { label: t('monitor.filter.cache'), children: e.cache },
        { label: t('monitor.filter.type'), children: word('type', e.type) },
        { label: t('monitor.key'), children: e.key || '—' },
        { label: t('monitor.entries'), children: count(e.size) },
        { label: t('monitor.generation'), children: count(e.generation) },
        { label: t('monitor.duration'), children: duration(e.duration_ms) },
      ]
    }
    case 'redis': {
      const e = part.event
      return [
        { label: t('monitor.filter.connection'), children: e.connection },
        { label: t('monitor.filter.command'), children: <Code>{e.command ?? '—'}</Code> },
        { label: t('monitor.key'), children: e.key ?? '—' },
        { label: t('redis.calls'), children: count(e.calls ?? 0) },
        { label: t('monitor.duration'), children: duration(e.duration_ms ?? 0) },
      ]
    }
  }
}
