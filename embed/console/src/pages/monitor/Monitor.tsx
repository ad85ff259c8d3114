import { Segmented, Select, Tabs, Typography } from 'antd'
import { lazy } from 'react'
import { Navigate, Route, Routes, useNavigate } from 'react-router'
import { useAccount } from '../../app/account'
import { Forbidden, NotFound } from '../../app/States'
import { t } from '../../i18n'
import { useLive } from '../../ui/useLive'
import { useWider } from '../../ui/useWider'
import { EventList } from './EventList'
import { accessOf, type Kind, kinds } from './kinds'
import { kindName } from './words'

const Request = lazy(async () => ({ default: (await import('./Request')).Request }))
const Traces = lazy(async () => ({ default: (await import('./Traces')).Traces }))

type List = Kind | 'trace'

const lists: List[] = [...kinds, 'trace']
const diagnostics: string[] = lists.slice(2) // lists for developers, below one tab

// Monitor is the monitoring page: a list per kind of event, requests with their details,
// and traces.
export function Monitor() {
  const { may } = useAccount()
  const open = lists.filter((kind) => may(accessOf[kind]))
  return (
    <Routes>
      <Route index element={open[0] ? <Navigate to={open[0]} replace /> : <Forbidden permission={accessOf.request} />} />
      <Route path="request/:id" element={may(accessOf.request) ? <Request /> : <Forbidden permission={accessOf.request} />} />
      {lists.map((kind) => (
        <Route key={kind} path={kind} element={may(accessOf[kind]) ? <Tab kind={kind} open={open} /> : <Forbidden permission={accessOf[kind]} />} />
      ))}
      <Route path="*" element={<NotFound />} />
    </Routes>
  )
}

function Tab({ kind, open }: { kind: List; open: List[] }) {
  const navigate = useNavigate()
  const md = useWider('md')
  const below = diagnostics.includes(kind)
  const { data } = useLive((below || !md) && open.includes('redis') ? '/system/monitor/redis' : '', 3600, () => ({ pageSize: 1 }), 'any') // a watched server has events
  const shown = open.filter((key) => key !== 'redis' || kind === key || data?.data.length)
  const causes = shown.filter((key) => diagnostics.includes(key))

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
        <Tabs
          activeKey={below ? 'diagnostics' : kind}
          onChange={(key) => go(key === 'diagnostics' ? (causes[0] ?? key) : key)}
          items={[...shown.filter((key) => !causes.includes(key)), ...(causes[0] ? ['diagnostics'] : [])].map((key) => ({ key, label: kindName(key) }))}
        />
      ) : (
        <Select
          value={kind}
          onChange={go}
          aria-label={t('monitor.kind')}
          style={{ width: '100%', marginBlock: 12 }}
          options={shown.map((value) => ({ value, label: kindName(value) }))}
        />
      )}
      {md && below && (
        <Segmented value={kind} onChange={go} options={causes.map((value) => ({ value, label: kindName(value) }))} style={{ marginBottom: 12 }} />
      )}
      {kind === 'trace' ? <Traces /> : <EventList key={kind} kind={kind} />}
    </>
  )
}
