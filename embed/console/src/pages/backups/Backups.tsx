import { CloudUploadOutlined } from '@ant-design/icons'
import { Alert, Button, Card, Descriptions, Flex, Table, Tag, Tooltip, Typography } from 'antd'
import { useEffect } from 'react'
import { post } from '../../api/request'
import type { BackupCopy as Copy, BackupTarget as Target } from '../../api/types'
import { useAccount } from '../../app/account'
import { type Key, maybe, t } from '../../i18n'
import { Nothing } from '../../ui/Nothing'
import { bytes, count } from '../../ui/format'
import { present } from '../../ui/presence'
import { sentence } from '../../ui/sentence'
import { Time } from '../../ui/Time'
import { useAction } from '../../ui/useAction'
import { useGet } from '../../ui/useGet'
import { wide } from '../../ui/Wide'
import { Progress } from '../../ui/Progress'
import { Backup } from '../info/Backup'

const idle = 10_000
const busy = 1000

const nameOf = (target: string) => (target === 'local' ? t('backups.local') : target)

// Backups is where copies are kept, what is being done there, and the copies.
export function Backups() {
  const { may } = useAccount()
  const { data: targets, reload } = useGet('/system/backup-target')
  const { data: copies, reload: reloadCopies } = useGet('/system/backup-file')
  const running = targets?.data.some((target) => target.phase !== 'waiting')
  useEffect(() => {
    const timer = setInterval(
      () => {
        if (present()) void Promise.all([reload(), reloadCopies()])
      },
      running ? busy : idle,
    )
    return () => clearInterval(timer)
  }, [running, reload, reloadCopies])

  return (
    <Flex vertical gap={16}>
      <Typography.Title level={1} style={{ fontSize: 20, margin: 0 }}>
        {t('menu.system.copy')}
      </Typography.Title>
      {targets?.data.length === 0 && <Alert type="warning" showIcon title={t('backups.none')} />}
      {(targets?.data ?? []).map((target) => (
        <One key={target.name} target={target} checkable={copies?.data.some((copy) => copy.checkable && copy.target === target.name)} reload={reload} />
      ))}
      <Card title={t('backups.copies')} loading={!copies} styles={{ body: { padding: '4px 16px 12px' } }}>
        {copies && <Copies copies={copies.data} />}
      </Card>
      {may('system.backup') && (
        <Card title={t('backup')}>
          <Backup />
        </Card>
      )}
    </Flex>
  )
}

function One({ target, checkable, reload }: { target: Target; checkable?: boolean; reload: () => Promise<unknown> }) {
  const { may } = useAccount()
  const { confirm, notify } = useAction()
  const waiting = target.phase === 'waiting'
  const name = nameOf(target.name)

  async function begin() {
    await post('/system/backup-file', { target: target.name })
    notify(t('backups.begun', { target: name }))
    await reload()
  }
  async function check() {
    await post('/system/backup-target/check', { target: target.name })
    notify(t('backups.checking', { target: name }))
    await reload()
  }
  async function cancel() {
    if (!(await confirm({ title: t('backups.cancel.sure', { target: name }), text: t('backups.cancel.what'), ok: t('cancel') }))) return
    await post('/system/backup-target/cancel', { target: target.name })
    notify(t('backups.cancelled'))
    await reload()
  }

  return (
    <Card
      title={name}
      extra={
        may('system.copy.create') &&
        (waiting ? (
          <Flex gap={8}>
            {checkable && (
              <Button title={t('backups.check.what')} onClick={() => void check()}>
                {t('backups.check')}
              </Button>
            )}
            <Button icon={<CloudUploadOutlined />} onClick={() => void begin()}>
              {t('backups.now')}
            </Button>
          </Flex>
        ) : (
          <Button onClick={() => void cancel()}>{t('cancel')}</Button>
        ))
      }
    >
      <Flex vertical gap={12}>
        {target.error && <Alert type="error" showIcon title={t('backups.failed', { error: target.error })} />}
        {target.commit_error && <Alert type="error" showIcon title={t('backups.commits.failed', { error: target.commit_error })} />}
        {target.warnings.map((text) => (
          <Alert key={text} type="warning" showIcon title={sentence(text)} />
        ))}
        {!waiting && (
          <Flex vertical>
            <Typography.Text>{t(`backups.phase.${target.phase}`)}</Typography.Text>
            <Progress
              percent={target.total_bytes ? Math.floor((target.done_bytes / target.total_bytes) * 100) : 0}
              info={target.total_bytes > 0}
              label={t(`backups.phase.${target.phase}`)}
            />
          </Flex>
        )}
        <Descriptions
          column={{ xs: 1, lg: 2, xl: 3 }}
          size="small"
          items={[
            {
              label: t('backups.place'),
              children: (
                <span style={{ overflowWrap: 'anywhere' }}>
                  {t(`backups.kind.${target.kind}`)} {target.place}
                </span>
              ),
            },
            { label: t('backups.count'), children: count(target.copies) },
            { label: t('backups.newest'), children: target.newest_at ? <Time at={target.newest_at} /> : '—' },
            { label: t('backups.proven'), children: target.proven_at ? <Time at={target.proven_at} /> : '—' },
            ...(target.moments.length > 0 ? [{ label: t('backups.moments'), children: <Moments target={target} /> }] : []),
            { label: t('backups.next'), children: target.next_at ? <Time at={target.next_at} /> : '—' },
            ...(target.recipients.length > 0
              ? [{ label: t('backups.recipients'), children: <span style={{ overflowWrap: 'anywhere' }}>{target.recipients.join(', ')}</span> }]
              : []),
          ]}
        />
        <Restore target={target} />
      </Flex>
    </Card>
  )
}

// Moments are the ranges of time of which each moment can be restored, the newest first.
function Moments({ target }: { target: Target }) {
  return (
    <Flex vertical>
      {target.moments.toReversed().map((range, i) => (
        <span key={range.from}>
          <Time exact at={range.from} /> – <Time exact at={i === 0 && target.stored_at && target.stored_at > range.to ? target.stored_at : range.to} />
        </span>
      ))}
    </Flex>
  )
}

// Restore says what a restore needs, and its command.
function Restore({ target }: { target: Target }) {
  const local = target.name === 'local'
  if (target.kind === 'command') return null
  return (
    <div>
      <Typography.Text type="secondary">
        {t('backups.restore')}
        {t('colon')}
        {t(local ? 'backups.restore.local' : 'backups.restore.what')}
      </Typography.Text>{' '}
      <Typography.Text code>{local ? `reeve restore ${target.place}/…` : `reeve restore ${target.name} --identity FILE`}</Typography.Text>
      {target.moments.length > 0 && (
        <>
          {' '}
          <Typography.Text type="secondary">{t('backups.restore.moment')}</Typography.Text> <Typography.Text code>--at TIME</Typography.Text>{' '}
          <Typography.Text code>--before ENTRY</Typography.Text>
        </>
      )}
    </div>
  )
}

const colors: Record<string, string> = { proven: 'success', stored: 'processing', sent: 'default', foreign: 'warning', previous: 'default', damaged: 'error' }

function Copies({ copies }: { copies: Copy[] }) {
  return (
    <Table
      size="small"
      rowKey={(copy) => `${copy.target} ${copy.name}`}
      pagination={false}
      {...wide}
      locale={{ emptyText: <Nothing why={t('backups.empty')} create={false} /> }}
      dataSource={copies}
      columns={[
        { title: t('backups.time'), dataIndex: 'at', render: (at: string) => <Time at={at} /> },
        { title: t('backups.target'), dataIndex: 'target', render: nameOf },
        {
          title: t('backups.state'),
          dataIndex: 'state',
          render: (state: string, copy) => (
            <Tooltip title={sentence(copy.fault) || maybe(`backups.state.${state}.what`)}>
              <Tag color={colors[state]}>{t(`backups.state.${state}` as Key)}</Tag>
            </Tooltip>
          ),
        },
        { title: t('backups.size'), dataIndex: 'size', align: 'end', render: bytes },
        { title: t('backups.records'), dataIndex: 'records', align: 'end', render: (n: number) => (n ? count(n) : '—') },
        { title: t('backups.files'), dataIndex: 'files', align: 'end', render: count },
      ]}
    />
  )
}
