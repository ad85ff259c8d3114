import { type TableProps, Tag } from 'antd'
import type { Session } from '../api/types'
import { t } from '../i18n'
import { PersonLink } from '../ui/PersonLink'
import { Time } from '../ui/Time'

type Agent = { browser: string; os: string }

// device names the browser and system of a user agent.
export const device = ({ browser, os }: Agent): string => [browser, os].filter(Boolean).join(', ')

// unversioned leaves out versions, which change while the device stays the same.
const unversioned = (name: string): string =>
  name
    .split(' ')
    .filter((word) => !/\d/.test(word))
    .join(' ') || name

const unversionedOf = ({ browser, os }: Agent): Agent => ({ browser: unversioned(browser), os: unversioned(os) })

// shortly names a device by them without versions: Firefox, Linux.
export const shortly = (of: Agent): string => device(unversionedOf(of))

// inWords names it in words: Firefox on Linux.
export const inWords = (of: Agent): string => (of.browser && of.os ? t('account.device.is', unversionedOf(of)) : shortly(of))

// sessionColumns are the columns of session lists.
export function sessionColumns(): NonNullable<TableProps<Session>['columns']> {
  return [
    {
      title: t('sign_in.username'),
      dataIndex: 'username',
      render: (name: string, s) => (
        <>
          <PersonLink name={name} id={s.user_id || s.app_user_id} app={s.app_user_id > 0} /> {s.app_user_id > 0 && <Tag>{t('sessions.app')}</Tag>}
        </>
      ),
    },
    {
      title: t('device'),
      key: 'device',
      render: (_, s) => (
        <>
          {device(s) || '—'} {s.provider_name && <span className="second">{t('loginlog.with', { name: s.provider_name })}</span>}{' '}
          {s.current === 1 && <Tag color="blue">{t('sessions.current')}</Tag>}
        </>
      ),
    },
    { title: t('address'), dataIndex: 'ip' },
    { title: t('sessions.begun'), dataIndex: 'created_at', render: (at: string) => <Time at={at} /> },
    { title: t('sessions.used'), dataIndex: 'last_used', render: (at: string) => <Time at={at} /> },
    { title: t('sessions.until'), dataIndex: 'expires_at', render: (at: string) => <Time at={at} /> },
  ]
}
