import { Select, Tabs, Typography } from 'antd'
import { lazy } from 'react'
import { Navigate, Route, Routes, useNavigate } from 'react-router'
import { useAccount } from '../../app/account'
import { Forbidden, NotFound } from '../../app/States'
import { t } from '../../i18n'
import { useWider } from '../../ui/useWider'
import { EventList } from './EventList'
import { accessOf, type Kind, kinds } from './kinds'
import { kindName } from './words'

const Request = lazy(async () => ({ default: (await import('./Request')).Request }))
const Traces = lazy(async () => ({ default: (await import('./Traces')).Traces }))

// Monitor is the monitoring page: a list per kind of event, requests with their details,
// and traces.
export function Monitor() {
  const { may } = useAccount()
  const open = [...kinds, 'trace' as const].filter((kind) => may(accessOf[kind]))
  return (
    <Routes>
      <Route index element={open[0] ? <Navigate to={open[0]} replace /> : <Forbidden permission={accessOf.request} />} />
      <Route path="request/:id" element={may(accessOf.request) ? <Request /> : <Forbidden permission={accessOf.request} />} />
      {[...kinds, 'trace' as const].map((kind) => (
        <Route key={kind} path={kind} element={may(accessOf[kind]) ? <Tab kind={kind} open={open} /> : <Forbidden permission={accessOf[kind]} />} />
      ))}
      <Route path="*" element={<NotFound />} />
    </Routes>
  )
}

function Tab({ kind, open }: { kind: Kind | 'trace'; open: (Kind | 'trace')[] }) {
  const navigate = useNavigate()
  const md = useWider('md')

  // The period is kept when another list opens; filters belong to a list.
  function go(to: string) {
    const kept = new URLSearchParams([...new URLSearchParams(location.search)].filter(([name]) => ['span', 'from', 'to', 'live'].includes(name)))
    void navigate({ pathname: `/system/monitor/${to}`, search: kept.toString() })
  }

  return (
    <>
      <Typography.Title level={1} style={{ fontSize: 20, margin: 0 }}>
        {t('menu.system.monitor')}
      </Typography.Title>
      {md ? (
        <Tabs activeKey={kind} onChange={go} items={open.map((key) => ({ key, label: kindName(key) }))} />
      ) : (
        <Select
          value={kind}
          onChange={go}
          aria-label={t('monitor.kind')}
          style={{ width: '100%', marginBlock: 12 }}
          options={open.map((key) => ({ value: key, label: kindName(key) }))}
        />
      )}
      {kind === 'trace' ? <Traces /> : <EventList key={kind} kind={kind} />}
    </>
  )
}
