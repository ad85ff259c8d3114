import { Badge, Button, Flex, Segmented, Skeleton, Typography } from 'antd'
import { lazy, Suspense } from 'react'
import { useNavigate } from 'react-router'
import type { SystemHealth } from '../api/types'
import { useAccount } from '../app/account'
import { type Key, maybe, t } from '../i18n'
import { count } from '../ui/format'
import { Time } from '../ui/Time'
import { useLive } from '../ui/useLive'
import { useQueryParams } from '../ui/useQueryParams'
import { BackupNotice } from './home/BackupNotice'
import { Overview } from './home/Overview'
import { Own } from './home/Own'
import { Steps, useSteps } from './home/Steps'
import type { Tile } from './home/Tiles'

const Operations = lazy(async () => ({ default: (await import('./home/Operations')).Operations }))

const people = [
  'system.loginlog.query',
  'system.audit.query',
  'admin.list.query',
  'user.list.query',
  'admin.role.query',
  'file.list.query',
  'admin.invite.query',
  'system.copy.query',
  'system.session.query',
] as const
const operations = ['system.monitor.stats', 'system.monitor.auth', 'system.info'] as const

// HomePage is the dashboard: an overview of people and changes, and the state of the server, each for those
// who may see a part of it. Its requests count as traffic, except those to monitoring, so it
// polls rarely.
export function HomePage() {
  const { info, may } = useAccount()
  const navigate = useNavigate()
  const { params, set } = useQueryParams()
  const user = info.info
  const { data: health, failure } = useLive(may('system.info') ? '/system/health' : '', 60)
  const { data: system, failure: unknown } = useLive(may('system.info') ? '/system/info' : '', 300)
  const sets = useSteps()
  const views = [...(people.some(may) ? ['overview'] : []), ...(operations.some(may) ? ['operations'] : [])]
  const asked = params.get('view') ?? ''
  const view = views.includes(asked) ? asked : views[0]
  const watches = ([...operations, 'system.session.query', 'system.loginlog.query'] as const).some(may)
  const now = useNow(health)
  return (
    <Flex vertical gap={16}>
      <Flex gap={16} wrap justify="space-between" align="start">
        <div style={{ minWidth: 0 }}>
          <Typography.Title level={1} style={{ fontSize: 20, margin: 0, overflowWrap: 'anywhere' }}>
            {t('home.hello', { name: user.nickname || user.username })}
          </Typography.Title>
          <Typography.Text type="secondary">
            {t('home.last')}
            {t('colon')}
            <Time at={user.login_time} />
            {user.login_ip && `, ${user.login_ip}`}
          </Typography.Text>
        </div>
        <Flex gap={16} wrap>
          {views.length > 1 && (
            <Segmented
              value={view}
              aria-label={t('home.view')}
              onChange={(to) => set({ view: to === views[0] ? undefined : to })}
              options={views.map((value) => ({ value, label: t(`home.view.${value}` as Key) }))}
            />
          )}
          {may('admin.list.query') && may('admin.list.create') && may('admin.invite.create') && (
            <Button onClick={() => void navigate('/admin/list?new=invite')}>{t('home.invite')}</Button>
          )}
        </Flex>
      </Flex>
      <BackupNotice />
      {sets && <Steps info={system} />}
      {view === 'overview' && <Overview tiles={now} />}
      {view === 'operations' && (
        <Suspense fallback={<Skeleton active title={false} />}>
          <Operations tiles={now} health={health} info={system} failure={failure} unknown={unknown} />
        </Suspense>
      )}
      {!watches && <Own />}
    </Flex>
  )
}

// useNow loads the figures that do not depend on a period.
function useNow(health: SystemHealth | undefined): Tile[] {
  const { may } = useAccount()
  const { data: sessions } = useLive(may('system.session.query') ? '/system/session' : '', 60, () => ({ pageSize: 1 }))
  const unwell = health?.parts.filter((p) => p.state !== 'ok').map((p) => maybe(`info.part.${p.name}`) ?? p.name)
  return [
    ...(may('system.session.query') ? [{ label: t('home.sessions'), value: sessions && count(sessions.total), to: '/system/session' }] : []),
    ...(may('system.info')
      ? [
          {
            label: t('home.health'),
            to: '/system/info',
            bad: health?.state === 'failed',
            more: unwell?.join(', '),
            value: health && (
              <Badge
                status={health.state === 'ok' ? 'success' : health.state === 'failed' ? 'error' : 'warning'}
                text={<span style={{ fontSize: 16 }}>{t(health.state === 'ok' ? 'home.well' : 'home.look')}</span>}
              />
            ),
          },
        ]
      : []),
  ]
}
