import { Button, Flex, Tag, Typography } from 'antd'
import { lazy, Suspense, useEffect, useState } from 'react'
import { Link } from 'react-router'
import { del } from '../../api/request'
import type { Trace } from '../../api/types'
import { useAccount } from '../../app/account'
import { t } from '../../i18n'
import { count } from '../../ui/format'
import { CreateButton } from '../../ui/CreateButton'
import { OnNode } from '../../ui/OnNode'
import { PersonLink } from '../../ui/PersonLink'
import { Nothing } from '../../ui/Nothing'
import { Records } from '../../ui/Records'
import { Time } from '../../ui/Time'
import { useAction } from '../../ui/useAction'
import { useLive } from '../../ui/useLive'
import { wide } from '../../ui/Wide'
import { words } from '../../ui/words'
import { Code } from './parts'

const TraceDrawer = lazy(async () => ({ default: (await import('./TraceDrawer')).TraceDrawer }))

// caught is the URL of the requests that a trace recorded.
function caught(trace: Trace): string {
  const query = new URLSearchParams({ from: trace.started_at, to: trace.ended_at ?? trace.ends_at })
  const [method, path] = trace.route.includes(' ') ? trace.route.split(' ') : ['', trace.route]
  if (method) query.set('method', method)
  if (path) query.set('route', path)
  if (trace.ip) query.set('address', trace.ip)
  if (trace.user_id) query.set('user_id', String(trace.user_id))
  return `/system/monitor/request?${query}`
}

// useNow is the current time in seconds, updated every second.
function useNow(): number {
  const [now, setNow] = useState(() => Date.now())
  useEffect(() => {
    const tick = setInterval(() => setNow(Date.now()), 1000)
    return () => clearInterval(tick)
  }, [])
  return now
}

// Traces lists the traces, which record every matching request for a few minutes.
export function Traces() {
  const { may } = useAccount()
  const { notify } = useAction()
  const { data, failure, reload } = useLive('/system/monitor/trace', 3)
  const traces = data?.data
  const [open, setOpen] = useState<boolean>() // undefined until first opened
  const now = useNow()

  async function stop(trace: Trace) {
    await del(`/system/monitor/trace/${trace.id}`)
    notify(t('trace.stopped'))
    await reload()
  }

  const left = (trace: Trace) => {
    const seconds = Math.max(0, Math.ceil((Date.parse(trace.ends_at) - now) / 1000))
    return `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, '0')}`
  }
  const start = <CreateButton onClick={() => setOpen(true)}>{t('trace.start')}</CreateButton>
  return (
    <>
      <Flex wrap gap={8} align="center" justify="space-between" style={{ marginBottom: 16 }}>
        <Typography.Text type="secondary" style={{ maxWidth: 720 }}>
          {t('trace.text')} <OnNode node={data?.node} />
        </Typography.Text>
        {start}
      </Flex>
      <Records<Trace>
        rowKey="id"
        size="middle"
        pagination={false}
        dataSource={traces}
        loading={{ spinning: !traces && !failure, delay: 200 }}
        {...wide}
        locale={{
          emptyText: traces || failure ? <Nothing why={failure ? words(failure) : t('trace.empty')} create={!failure && start} /> : ' ',
        }}
        columns={[
          { title: t('trace.what'), key: 'what', render: (_, trace) => <What trace={trace} /> },
          { title: t('trace.by'), dataIndex: 'created_by', render: (name: string) => <PersonLink name={name} /> },
          { title: t('trace.started'), dataIndex: 'started_at', render: (at: string) => <Time at={at} /> },
          {
            title: t('trace.left'),
            key: 'left',
            align: 'end',
            render: (_, trace) => (trace.ended_at ? <Tag>{t('trace.over')}</Tag> : <span style={{ fontVariantNumeric: 'tabular-nums' }}>{left(trace)}</span>),
          },
          { title: t('trace.matched'), dataIndex: 'matched', align: 'end', render: count },
          {
            title: t('actions'),
            key: 'actions',
            align: 'end',
            render: (_, trace) => (
              <Flex gap={12} justify="end" align="center">
                {may('system.monitor.request') && <Link to={caught(trace)}>{t('trace.caught')}</Link>}
                {!trace.ended_at && (
                  <Button size="small" onClick={() => void stop(trace)}>
                    {t('trace.stop')}
                  </Button>
                )}
              </Flex>
            ),
          },
        ]}
      />
      <Suspense>{open !== undefined && <TraceDrawer open={open} onClose={() => setOpen(false)} onStarted={reload} />}</Suspense>
    </>
  )
}

function What({ trace }: { trace: Trace }) {
  return (
    <Flex wrap gap={8}>
      {trace.user_id > 0 && (trace.username ? <PersonLink name={trace.username} id={trace.user_id} /> : <span>{t('trace.user', { id: trace.user_id })}</span>)}
      {trace.ip && <Code>{trace.ip}</Code>}
      {trace.route && <Code>{trace.route}</Code>}
    </Flex>
  )
}
