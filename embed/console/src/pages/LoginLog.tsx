import { Button, Tag, theme, Typography } from 'antd'
import { lazy, Suspense } from 'react'
import { Link } from 'react-router'
import { del } from '../api/request'
import type { LoginLog as Row } from '../api/types'
import { useAccount } from '../app/account'
import { type Key, maybe, t } from '../i18n'
import { Choice } from '../ui/Choice'
import { Finder } from '../ui/Finder'
import { List } from '../ui/List'
import { Locked } from '../ui/Locked'
import { activity } from '../ui/log/address'
import { PersonLink } from '../ui/PersonLink'
import { Time } from '../ui/Time'
import { useAction } from '../ui/useAction'
import { useTable } from '../ui/useTable'
import { device } from './session-columns'

// The calendar is large, and the list need not wait for it.
const Range = lazy(async () => ({ default: (await import('../ui/Range')).Range }))

export const colors: Record<string, string> = { success: 'success', failed: 'error', throttled: 'warning' }

// LoginLog lists the sign-ins of everyone, of the current user, or of one user.
export function LoginLog({ own = false, of }: { own?: boolean; of?: number }) {
  const { token } = theme.useToken()
  const list = useTable<Row>(own ? '/admin/loginlog' : '/system/loginlog', of ? { user_id: String(of) } : {})
  const every = !own && of === undefined
  const user = Number(list.params.get('user_id')) || undefined
  return (
    <List
      title={every ? t('menu.system.loginlog') : undefined}
      list={list}
      empty={t('loginlog.empty')}
      create={false}
      filters={
        <>
          {every && <Finder of="user" label={t('loginlog.user')} value={user} onChange={(id) => list.set({ user_id: id ? String(id) : undefined })} />}
          <Choice
            list={list}
            name="result"
            label={t('loginlog.result')}
            options={Object.keys(colors).map((value) => ({ value, label: t(`loginlog.${value}` as Key) }))}
          />
          {every && (
            <Choice
              list={list}
              name="realm"
              label={t('loginlog.realm')}
              options={[
                { value: 'admin', label: t('loginlog.realm.admin') },
                { value: 'app', label: t('loginlog.realm.app') },
              ]}
            />
          )}
          <Suspense fallback={<span style={{ width: 240, height: token.controlHeight }} />}>
            <Range label={t('time')} value={list.params.getAll('created_at[]')} onChange={(range) => list.set({ 'created_at[]': range })} />
          </Suspense>
        </>
      }
      columns={[
        { title: t('time'), ...list.order('created_at'), render: (at: string) => <Time at={at} /> },
        {
          title: t('sign_in.username'),
          dataIndex: 'username',
          render: (name: string, row) => (
            <>
              <PersonLink name={name} id={row.user_id || row.app_user_id} app={row.realm === 'app'} /> {row.realm === 'app' && <Tag>{t('sessions.app')}</Tag>}
              {row.locked_until && row.result !== 'success' && (
                <>
                  <Tag color="warning">
                    <Locked until={row.locked_until} />
                  </Tag>
                  <Unlock row={row} reload={list.reload} />
                </>
              )}
            </>
          ),
        },
        { title: t('loginlog.result'), dataIndex: 'result', render: (result: string, row) => <Result row={row} result={result} /> },
        { title: t('address'), dataIndex: 'ip' },
        { title: t('device'), key: 'device', render: (_, row) => device(row) || '—' },
      ]}
    />
  )
}

// Unlock ends a lock-out, for those who may.
function Unlock({ row, reload }: { row: Row; reload: () => Promise<void> }) {
  const { may } = useAccount()
  const { notify } = useAction()
  const app = row.realm === 'app'
  if (!may(app ? 'user.list.unlock' : 'admin.list.unlock')) return null
  const unlock = async () => {
    await del(app ? `/user/list/${row.app_user_id}/lockout` : `/admin/list/${row.user_id}/lockout`)
    notify(t('unlocked', { name: row.username }))
    await reload()
  }
  return (
    <Button size="small" aria-label={t('unlock.name', { name: row.username })} onClick={() => void unlock()}>
      {t('unlock')}
    </Button>
  )
}

// Result is the outcome of a sign-in, or of all rate-limited attempts of a minute.
function Result({ row, result }: { row: Row; result: string }) {
  const { may } = useAccount()
  return (
    <>
      <Tag color={colors[result]}>
        {t(`loginlog.${result}` as Key)}
        {row.count > 1 ? ` × ${row.count}` : ''}
      </Tag>
      {row.provider_name && (
        <Typography.Text type="secondary" style={{ marginInlineEnd: 8 }}>
          {t('loginlog.with', { name: row.provider_name })}
        </Typography.Text>
      )}
      {row.session_id > 0 && may('system.audit.query') && (
        <Link
          style={{ textDecoration: 'underline', marginInlineEnd: 8 }}
          to={activity({ collection: 'session', record: row.session_id })}
          aria-label={`${t('menu.system.audit')}: ${row.username}`}
        >
          {t('menu.system.audit')}
        </Link>
      )}
      {row.reason && <Typography.Text type="secondary">{maybe(`loginlog.reason.${row.reason}`) ?? row.reason}</Typography.Text>}
    </>
  )
}
