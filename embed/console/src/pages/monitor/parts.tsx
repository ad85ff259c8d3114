import { Tag, Tooltip, Typography } from 'antd'
import dayjs from 'dayjs'
import { Link } from 'react-router'
import type { AuthEvent, EventUser } from '../../api/types'
import { useAccount } from '../../app/account'
import { t } from '../../i18n'
import { PersonLink } from '../../ui/PersonLink'

// Cells of the monitoring pages.

const colors: Record<string, string> = { 1: 'default', 2: 'success', 3: 'processing', 4: 'warning', 5: 'error' }

// Status is the status of a response; 0 if there was none.
export function Status({ status }: { status: number }) {
  return <Tag color={status ? colors[String(status)[0]!] : 'error'}>{status || t('monitor.broken')}</Tag>
}

// Moment is an exact time, with the date if it is not today's.
export function Moment({ at }: { at: string }) {
  const moment = dayjs(at)
  const today = moment.isSame(dayjs(), 'day')
  return (
    <time dateTime={at} title={moment.format('YYYY-MM-DD HH:mm:ss.SSS')} style={{ whiteSpace: 'nowrap', fontVariantNumeric: 'tabular-nums' }}>
      {moment.format(today ? 'HH:mm:ss.SSS' : 'MM-DD HH:mm:ss')}
    </time>
  )
}

// Sampled marks an event that represents similar ones.
export function Sampled({ times }: { times: number }) {
  return times > 1 ? (
    <Tooltip title={t('monitor.sampled', { n: times })}>
      <Tag tabIndex={0}>×{times}</Tag>
    </Tooltip>
  ) : null
}

// Who is the user of a request, optionally with the API key that acted for them.
export function Who({ user, withKey = false }: { user: EventUser | null; withKey?: boolean }) {
  if (!user) return <Typography.Text type="secondary">—</Typography.Text>
  return (
    <span>
      <PersonLink name={user.username} id={user.id} app={user.realm === 'app'} />
      {user.realm === 'app' && (
        <>
          {' '}
          <Tag>{t('sessions.app')}</Tag>
        </>
      )}
      {withKey && user.key_id !== undefined && t('monitor.with_key', { name: user.key || user.key_id })}
    </span>
  )
}

// About is the user of a sign-in or session event. An event has only the ID of the
// signed-in user; another name is a user's if the route is about users.
export function About({ event: { username, user, route } }: { event: AuthEvent }) {
  if (user?.username === username) return <PersonLink name={username} id={user.id} app={user.realm === 'app'} />
  return <PersonLink name={username} app={!route.includes('/admin/') || username.startsWith('#')} />
}

// Code is machine text, truncated if it does not fit.
export function Code({ children }: { children: string }) {
  return (
    <span title={children} style={{ fontFamily: 'ui-monospace, monospace', fontSize: '0.93em' }}>
      {children}
    </span>
  )
}

// Story links to the request of an event.
export function Story({ id }: { id: string }) {
  const { may } = useAccount()
  if (!id || !may('system.monitor.request')) return null
  return (
    <Link to={`/system/monitor/request/${encodeURIComponent(id)}`} aria-label={t('monitor.story.of', { id })}>
      {t('monitor.story')}
    </Link>
  )
}

// Marks are the notable properties of an event.
export function Marks({ slow, repeated = 0 }: { slow: 0 | 1; repeated?: 0 | 1 }) {
  return (
    <>
      {slow === 1 && <Tag color="warning">{t('monitor.slow')}</Tag>}
      {slow === 1 && repeated === 1 && ' '}
      {repeated === 1 && (
        <Tooltip title={t('monitor.n_plus_one.text')}>
          <Tag color="error" tabIndex={0}>
            {t('monitor.n_plus_one')}
          </Tag>
        </Tooltip>
      )}
    </>
  )
}
