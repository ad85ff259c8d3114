import { Alert, Button, Card, Descriptions, Flex, Table, Tag, theme, Typography } from 'antd'
import { useEffect } from 'react'
import { post } from '../api/request'
import type { Part, SystemHealth, SystemInfo as Info } from '../api/types'
import { useAccount } from '../app/account'
import { type Key, maybe, t } from '../i18n'
import { bytes, count } from '../ui/format'
import { present } from '../ui/presence'
import { sentence } from '../ui/sentence'
import { Time } from '../ui/Time'
import { useAction } from '../ui/useAction'
import { useGet } from '../ui/useGet'
import { wide } from '../ui/Wide'
import { Backup } from './info/Backup'
import { Files } from './info/Files'

const every = 10_000

// Table cells have padding of their own.
const tight = { body: { padding: '4px 16px 12px' } }

// SystemInfo shows the program, its health and its configuration.
export function SystemInfo() {
  const { may } = useAccount()
  const { token } = theme.useToken()
  const { data: info, reload: reloadInfo } = useGet('/system/info')
  const { data: health, reload } = useGet('/system/health')
  useEffect(() => {
    const timer = setInterval(() => {
      if (present()) void reload()
    }, every)
    return () => clearInterval(timer)
  }, [reload])
  return (
    <Flex vertical gap={16}>
      <Typography.Title level={1} style={{ fontSize: 20, margin: 0 }}>
        {t('menu.system.info')}
      </Typography.Title>
      {health && health.state !== 'ok' && <Alert type={health.state === 'failed' ? 'error' : 'warning'} showIcon title={t('info.not_well')} />}
      <Card styles={tight} title={t('info.parts')} loading={!health}>
        {health && <Parts health={health} reload={reload} />}
      </Card>
      <Card title={t('info.program')} loading={!info}>
        {info && <Program info={info} />}
      </Card>
      <Card styles={tight} title={t('info.files')} loading={!info}>
        {info && <Files info={info} reload={reloadInfo} />}
      </Card>
      {may('system.backup') && (
        <Card title={t('backup')}>
          <Backup />
        </Card>
      )}
      <div style={{ display: 'grid', gap: 16, gridTemplateColumns: `repeat(auto-fit, minmax(min(${token.screenXS}px, 100%), 1fr))` }}>
        <Card styles={tight} title={t('info.caches')} loading={!info}>
          <Table
            size="small"
            rowKey="name"
            pagination={false}
            {...wide}
            dataSource={info?.caches}
            columns={[
              { title: t('name'), dataIndex: 'name' },
              { title: t('info.records'), dataIndex: 'records', align: 'end', render: count },
              { title: t('info.generation'), dataIndex: 'generation', align: 'end', render: count },
              { title: t('info.computed'), dataIndex: 'computed_at', render: (at: string) => <Time at={at} /> },
            ]}
          />
        </Card>
        <Card styles={tight} title={t('info.collections')} loading={!info}>
          <Table
            size="small"
            rowKey="name"
            pagination={false}
            {...wide}
            dataSource={info?.collections}
            columns={[
              { title: t('name'), dataIndex: 'name' },
              { title: t('info.records'), dataIndex: 'records', align: 'end', render: count },
            ]}
          />
        </Card>
      </div>
      <Card styles={tight} title={t('info.config')} loading={!info}>
        <Table
          size="small"
          rowKey="key"
          pagination={false}
          {...wide}
          dataSource={info?.config}
          columns={[
            { title: t('info.key'), dataIndex: 'key', render: (key: string) => <Typography.Text code>{key}</Typography.Text> },
            { title: t('info.value'), dataIndex: 'value', render: (value: string) => value || '—' },
            { title: t('info.source'), dataIndex: 'source', render: (source: string) => maybe(`info.source.${source}`) ?? source },
          ]}
        />
      </Card>
    </Flex>
  )
}

const colors: Record<string, string> = { ok: 'success', checking: 'processing', degraded: 'warning', failed: 'error' }

// said returns the server's details of a component that is not healthy. For healthy ones
// the state is enough, except for free space.
function said({ name, state, text, figures }: Part): string {
  if (state !== 'ok') return sentence(text)
  return name === 'disk' && figures.free_bytes !== undefined ? t('home.disk') + t('colon') + bytes(figures.free_bytes) : ''
}

// Acknowledge dismisses the warning about lost commits.
function Acknowledge({ reload }: { reload: () => Promise<unknown> }) {
  const { confirm, notify } = useAction()
  async function acknowledge() {
    if (!(await confirm({ title: t('info.lost.acknowledge'), text: t('info.lost.sure'), ok: t('info.lost.acknowledge') }))) return
    await post('/system/health/acknowledge')
    notify(t('info.lost.acknowledged'))
    await reload()
  }
  return (
    <div>
      <Button size="small" onClick={() => void acknowledge()}>
        {t('info.lost.acknowledge')}
      </Button>
    </div>
  )
}

function Parts({ health, reload }: { health: SystemHealth; reload: () => Promise<unknown> }) {
  const { may } = useAccount()
  return (
    <Table
      size="small"
      rowKey="name"
      pagination={false}
      dataSource={health.parts}
      columns={[
        {
          title: t('info.part'),
          dataIndex: 'name',
          render: (name: string) => (
            <Typography.Text strong style={{ whiteSpace: 'nowrap' }}>
              {maybe(`info.part.${name}`) ?? name}
            </Typography.Text>
          ),
        },
        { title: t('info.state'), dataIndex: 'state', render: (state: string) => <Tag color={colors[state]}>{t(`info.state.${state}` as Key)}</Tag> },
        {
          title: t('info.text'),
          dataIndex: 'text',
          render: (_, part) => (
            <>
              {said(part)}
              {part.since && (
                <>
                  {' '}
                  (<Time at={part.since} />)
                </>
              )}
              <div>
                <Typography.Text type="secondary">{maybe(`info.part.${part.name}.what`)}</Typography.Text>
              </div>
              {(part.figures.lost_commits ?? 0) > 0 && may('system.info.acknowledge') && <Acknowledge reload={reload} />}
            </>
          ),
        },
      ]}
    />
  )
}

// Head shows the newest entry of the change log: its number and hash, which change if entries are
// replaced.
function Head({ log }: { log: Info['change_log'] }) {
  return (
    <span>
      {t('info.change_log.entries', { n: count(log.entries) })}{' '}
      <Typography.Text code title={`${log.generation}:${log.entries}:${log.sha256}`}>
        {log.sha256.slice(0, 12)}
      </Typography.Text>
    </span>
  )
}

function Program({ info }: { info: Info }) {
  const { build, memory } = info
  return (
    <Descriptions
      column={{ xs: 1, lg: 2, xl: 3 }}
      size="small"
      items={[
        { label: t('info.version'), children: info.version },
        ...(build.revision
          ? [
              {
                label: t('info.revision'),
                children: (
                  <>
                    <Typography.Text code>{build.revision.slice(0, 12)}</Typography.Text>
                    {build.modified && ` ${t('info.modified')}`}
                  </>
                ),
              },
            ]
          : []),
        { label: t('info.started'), children: <Time at={info.started_at} /> },
        { label: t('info.platform'), children: `${build.platform}, ${build.go}` },
        { label: t('info.processors'), children: build.cpus },
        { label: t('info.memory'), children: bytes(memory.anonymous_bytes || memory.heap_bytes) },
        { label: t('info.change_log'), children: <Head log={info.change_log} /> },
      ]}
    />
  )
}
