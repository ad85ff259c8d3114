import { Badge, Flex, Table } from 'antd'
import type { Failure } from '../../api/request'
import type { Part, StoredFile, SystemHealth, SystemInfo } from '../../api/types'
import { type Key, maybe, t } from '../../i18n'
import { bytes } from '../../ui/format'
import { wide } from '../../ui/Wide'
import { Progress } from '../../ui/Progress'
import { sentence } from '../../ui/sentence'
import { Half } from './Recent'

const states: Record<string, 'success' | 'processing' | 'warning' | 'error'> = { ok: 'success', checking: 'processing', degraded: 'warning', failed: 'error' }

// Storage shows the sizes of the database files and the free disk space.
export function Storage({ health, info, failure }: { health: SystemHealth | undefined; info: SystemInfo | undefined; failure: Failure | undefined }) {
  const free = health?.parts.find((p) => p.name === 'disk')?.figures.free_bytes
  const monitor = health?.parts.find((p) => p.name === 'monitor')?.figures
  return (
    <Half title={t('home.files')} to="/system/info" loading={!info} failure={failure}>
      <Table<StoredFile>
        size="small"
        rowKey="name"
        pagination={false}
        dataSource={info?.files}
        {...wide}
        style={{ fontVariantNumeric: 'tabular-nums' }}
        columns={[
          { title: t('info.file'), dataIndex: 'name' },
          { title: t('info.size'), dataIndex: 'size_bytes', align: 'end', render: bytes },
          { title: t('info.free'), dataIndex: 'free_bytes', align: 'end', render: bytes },
        ]}
      />
      <Flex vertical gap={8} style={{ marginTop: 16, fontVariantNumeric: 'tabular-nums' }}>
        {free !== undefined && (
          <Flex justify="space-between">
            <span>{t('home.disk')}</span>
            <span>{bytes(free)}</span>
          </Flex>
        )}
        {monitor?.max_bytes ? (
          <div>
            <Flex justify="space-between">
              <span>{t('home.monitor')}</span>
              <span>{t('home.of', { part: bytes(monitor.bytes ?? 0), all: bytes(monitor.max_bytes) })}</span>
            </Flex>
            <Progress percent={(100 * (monitor.bytes ?? 0)) / monitor.max_bytes} info={false} label={t('home.monitor')} />
          </div>
        ) : null}
      </Flex>
    </Half>
  )
}

// Health is the state of each component.
export function Health({ health, failure }: { health: SystemHealth | undefined; failure: Failure | undefined }) {
  return (
    <Half title={t('home.health')} to="/system/info" loading={!health} failure={failure}>
      <Table<Part>
        size="small"
        rowKey="name"
        pagination={false}
        showHeader={false}
        dataSource={health?.parts}
        {...wide}
        columns={[
          { title: t('info.part'), dataIndex: 'name', render: (name: string) => maybe(`info.part.${name}`) ?? name },
          {
            title: t('info.state'),
            dataIndex: 'state',
            render: (state: string) => <Badge status={states[state] ?? 'error'} text={t(`info.state.${state}` as Key)} />,
          },
          {
            title: t('info.text'),
            dataIndex: 'text',
            render: (text: string, part) => part.state !== 'ok' && <span style={{ overflowWrap: 'anywhere' }}>{sentence(text)}</span>,
          },
        ]}
      />
    </Half>
  )
}
