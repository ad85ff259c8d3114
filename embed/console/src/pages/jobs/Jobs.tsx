import { Tag, Typography } from 'antd'
import { Link } from 'react-router'
import type { Job } from '../../api/types'
import { useAccount } from '../../app/account'
import { type Key, maybe, t } from '../../i18n'
import { Choice } from '../../ui/Choice'
import { Finder } from '../../ui/Finder'
import { count } from '../../ui/format'
import { List } from '../../ui/List'
import { activity } from '../../ui/log/address'
import { PersonLink } from '../../ui/PersonLink'
import { Time } from '../../ui/Time'
import { Progress } from '../../ui/Progress'
import { useTable } from '../../ui/useTable'

const colors: Record<string, string> = { preparing: 'default', running: 'processing', undoing: 'warning', done: 'success', failed: 'error' }

// Jobs lists changes that are too large for one transaction and are applied in steps.
export function Jobs() {
  const { may } = useAccount()
  const list = useTable<Job>('/system/job')
  return (
    <List
      title={t('menu.system.job')}
      list={list}
      search={false}
      empty={t('jobs.empty')}
      create={false}
      filters={
        <>
          <Finder
            of="user"
            label={t('jobs.user')}
            value={Number(list.params.get('user_id')) || undefined}
            onChange={(id) => list.set({ user_id: id ? String(id) : undefined })}
          />
          <Choice
            list={list}
            name="state"
            label={t('jobs.state')}
            options={Object.keys(colors).map((value) => ({ value, label: t(`jobs.state.${value}` as Key) }))}
          />
        </>
      }
      columns={[
        {
          title: t('jobs.kind'),
          dataIndex: 'kind',
          render: (kind: string, job) => {
            const name = maybe(`jobs.kind.${kind}`) ?? kind
            return may('system.audit.query') ? <Link to={activity({ job: job.id })}>{name}</Link> : name
          },
        },
        { title: t('jobs.user'), dataIndex: 'username', render: (name: string, job) => <PersonLink name={name} id={job.user_id} /> },
        { title: t('jobs.state'), dataIndex: 'state', render: (state: string) => <Tag color={colors[state]}>{t(`jobs.state.${state}` as Key)}</Tag> },
        {
          title: t('jobs.progress'),
          key: 'progress',
          width: 200,
          render: (_, job) => (
            <>
              <Progress
                percent={job.total ? Math.floor((job.done / job.total) * 100) : 100}
                failed={job.state === 'failed'}
                label={`${t('jobs.progress')}: ${job.id}`}
              />
              <Typography.Text type="secondary">{job.msg || t('jobs.of', { done: count(job.done), total: count(job.total) })}</Typography.Text>
            </>
          ),
        },
        { title: t('jobs.started'), dataIndex: 'created_at', render: (at: string) => <Time at={at} /> },
        { title: t('jobs.ended'), dataIndex: 'ended_at', render: (at: string | null) => (at ? <Time at={at} /> : '—') },
      ]}
    />
  )
}
