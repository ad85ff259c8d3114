import { Alert, AutoComplete, Form, Input, InputNumber } from 'antd'
import { useEffect, useState } from 'react'
import { base } from '../../api/base'
import { post } from '../../api/request'
import { t } from '../../i18n'
import { useAction } from '../../ui/useAction'
import { FormDrawer } from '../../ui/FormDrawer'
import { UserPick } from './UserPick'
import { folded, has } from '../../ui/fold'

type Values = { user_id?: string; ip?: string; route?: string; minutes: number }

type Document = { paths: Record<string, Record<string, unknown>> }

// useRoutes returns the routes that can be traced, from the OpenAPI document.
function useRoutes(wanted: boolean): string[] {
  const [routes, setRoutes] = useState<string[]>([])
  useEffect(() => {
    if (!wanted) return
    const control = new AbortController()
    fetch(`${base}/openapi.json`, { signal: control.signal })
      .then(async (answer) => {
        const { paths } = (await answer.json()) as Document
        setRoutes(
          Object.entries(paths)
            .flatMap(([path, ways]) => {
              const route = path.replace(/\{(\w+)\}/g, ':$1')
              return Object.keys(ways)
                .filter((way) => /^(get|post|put|delete)$/.test(way))
                .map((way) => `${way.toUpperCase()} ${route}`)
            })
            .filter((route) => !route.includes('/system/monitor')),
        )
      })
      .catch(() => {}) // the route can be typed
    return () => control.abort()
  }, [wanted])
  return routes
}

// TraceDrawer starts a trace.
export function TraceDrawer({ open, onClose, onStarted }: { open: boolean; onClose: () => void; onStarted: () => Promise<void> }) {
  const { notify } = useAction()
  const routes = useRoutes(open)

  async function start({ user_id, ip, route, minutes }: Values) {
    await post(
      '/system/monitor/trace',
      {
        minutes,
        ...(user_id && { user_id: Number(user_id.split(':')[1]) }),
        ...(ip && { ip: ip.trim() }),
        ...(route && { route: route.trim() }),
      },
      { quiet: true },
    )
    notify(t('trace.running'))
    await onStarted()
  }

  return (
    <FormDrawer<Values>
      title={t('trace.start')}
      open={open}
      initial={{ minutes: 5 }}
      draft={{ key: '/system/monitor/trace' }}
      save={start}
      onClose={onClose}
      ok={t('trace.start.ok')}
    >
      <Alert type="info" showIcon style={{ marginBottom: 16 }} title={t('trace.start.text')} />
      <Form.Item name="user_id" label={t('monitor.filter.user_id')}>
        <UserPick width="100%" />
      </Form.Item>
      <Form.Item name="ip" label={t('address')}>
        <Input placeholder="192.0.2.7" />
      </Form.Item>
      <Form.Item name="route" label={t('monitor.filter.route')}>
        <AutoComplete
          allowClear
          placeholder="GET /admin/list"
          showSearch={{ filterOption: (typed, option) => has(folded(typed), String(option?.value)) }}
          options={routes.map((value) => ({ value }))}
        />
      </Form.Item>
      <Form.Item name="minutes" label={t('trace.minutes')} rules={[{ required: true, message: t('form.required') }]}>
        <InputNumber min={1} max={15} precision={0} style={{ width: 120 }} />
      </Form.Item>
    </FormDrawer>
  )
}
