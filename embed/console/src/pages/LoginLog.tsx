import { Select, Tag } from 'antd'
import type { LoginLog as Row } from '../api/types'
import { type Key, maybe, t } from '../i18n'
import { List } from '../ui/List'
import { Time } from '../ui/Time'
import { useTable } from '../ui/useTable'

const colors: Record<string, string> = { success: 'success', failed: 'error', throttled: 'warning' }

// LoginLog is everybody's sign-ins, or one's own.
export function LoginLog({ path = '/system/loginlog' }: { path?: string }) {
  const list = useTable<Row>(path)
  return (
    <List
      title={t('menu.system.loginlog')} list={list}
      filters={
        <Select
          allowClear style={{ width: 160 }} placeholder={t('loginlog.result')} aria-label={t('loginlog.result')} value={list.params.get('result') ?? undefined}
          onChange={(result?: string) => list.set({ result })}
          options={Object.keys(colors).map((value) => ({ value, label: t(`loginlog.${value}` as Key) }))}
        />
      }
      columns={[
        { title: t('time'), ...list.order('created_at'), render: (at: string) => <Time at={at} /> },
        { title: t('sign_in.username'), dataIndex: 'username' },
        { title: t('loginlog.result'), dataIndex: 'result', render: (result: string, row) => <Tag color={colors[result]}>{t(`loginlog.${result}` as Key)}{row.count > 1 ? ` × ${row.count}` : ''}</Tag> },
        { title: t('loginlog.reason'), dataIndex: 'reason', render: (reason: string) => maybe(`loginlog.${reason}`) ?? reason },
        { title: t('address'), dataIndex: 'ip' },
        { title: t('device'), render: (_, row) => [row.browser, row.os].filter(Boolean).join(', ') },
      ]}
    />
  )
}
