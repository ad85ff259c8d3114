import { Badge, Button, Flex, Typography } from 'antd'
import { useNavigate } from 'react-router'
import type { SystemHealth } from '../api/types'
import { useAccount } from '../app/account'
import { maybe, t } from '../i18n'
import { count } from '../ui/format'
import { Time } from '../ui/Time'
import { useLive } from '../ui/useLive'
import { BackupNotice } from './home/BackupNotice'
import { Own } from './home/Own'
import { Denials, SignIns } from './home/Recent'
import { Steps, useSteps } from './home/Steps'
import { Health, Storage } from './home/Storage'
import { type Tile, Tiles } from './home/Tiles'
import { Traffic } from './home/Traffic'

// HomePage is the dashboard; each part requires its permission. Its requests count as
// traffic, except those to monitoring, so it polls rarely.
export function HomePage() {
  const { info, may } = useAccount()
  const navigate = useNavigate()
  const user = info.info
  const { data: health, failure } = useLive(may('system.info') ? '/system/health' : '', 60)
  const { data: system, failure: unknown } = useLive(may('system.info') ? '/system/info' : '', 300)
  const sets = useSteps()
  const stats = may('system.monitor.stats')
  const watches = (['system.monitor.stats', 'system.monitor.auth', 'system.info', 'system.session.query', 'system.loginlog.query'] as const).some(may)
  const now = useNow(health)
  return (
    <Flex vertical gap={16}>
      <Flex gap={16} wrap justify="space-between" align="start">
        <div style={{ minWidth: 0 }}>
          <Typography.Title level={1} style={{ fontSize: 20, margin: 0, overflowWrap: 'anywhere' }}>
            {t('home.hello', { name: user.nickname || user.username })}
          </Typography.Title>
          <Typography.Text type="secondary">
            {t('home.last')}: <Time at={user.login_time} />
            {user.login_ip && `, ${user.login_ip}`}
          </Typography.Text>
        </div>
        {may('admin.list.query') && may('admin.list.create') && may('admin.invite.create') && (
          <Button onClick={() => void navigate('/admin/list?new=invite')}>{t('home.invite')}</Button>
        )}
      </Flex>
      <BackupNotice />
      {sets && <Steps info={system} />}
      {stats ? <Traffic tiles={now} /> : now.length > 0 && <Tiles tiles={now} />}
      <Flex wrap gap={16}>
        {may('system.loginlog.query') && <SignIns title={t('home.sign_ins')} path="/system/loginlog" to="/system/loginlog" />}
        {may('system.monitor.auth') && <Denials />}
        {may('system.info') && <Storage health={health} info={system} failure={unknown} />}
        {may('system.info') && <Health health={health} failure={failure} />}
      </Flex>
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
