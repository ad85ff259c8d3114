import { Alert, Card, Descriptions, Flex, Table, Tag, Typography } from 'antd'
import { useEffect, useState } from 'react'
import { get } from '../api/request'
import type { SystemHealth, SystemInfo as Info } from '../api/types'
import { t } from '../i18n'
import { bytes } from '../ui/format'
import { Time } from '../ui/Time'
import { wide } from '../ui/Wide'

const colors: Record<string, string> = { ok: 'success', degraded: 'warning', failed: 'error' }

// SystemInfo is what runs here, and how it is.
export function SystemInfo() {
  const [info, setInfo] = useState<Info>()
  const [health, setHealth] = useState<SystemHealth>()
  useEffect(() => {
    get<Info>('/system/info').then(setInfo, () => {})
    const look = () => get<SystemHealth>('/system/health', {}, { quiet: true }).then(setHealth, () => {})
    void look()
    const again = setInterval(() => void look(), 10_000)
    return () => clearInterval(again)
  }, [])
  return (
    <Flex vertical gap={16}>
      <Typography.Title level={1} style={{ fontSize: 20, margin: 0 }}>{t('menu.system.info')}</Typography.Title>
      {health && health.state !== 'ok' && <Alert type={health.state === 'failed' ? 'error' : 'warning'} showIcon title={t('info.not_well')} />}
      <Card title={t('info.parts')} loading={!health}>
        <Table
          size="small" rowKey="name" pagination={false} {...wide} dataSource={health?.parts}
          columns={[
            { title: t('info.part'), dataIndex: 'name' },
            { title: t('info.state'), dataIndex: 'state', render: (state: string) => <Tag color={colors[state]}>{state}</Tag> },
            { title: t('info.text'), dataIndex: 'text' },
          ]}
        />
      </Card>
      <Card title={t('info.program')} loading={!info}>
        {info && (
          <Descriptions
            column={{ xs: 1, md: 2 }} size="small"
            items={[
              { label: t('info.version'), children: info.version },
              { label: t('info.started'), children: <Time at={info.started_at} /> },
              { label: t('info.platform'), children: `${info.build.platform}, ${info.build.go}` },
              { label: t('info.memory'), children: info.memory.anonymous_bytes ? bytes(info.memory.anonymous_bytes) : '—' },
            ]}
          />
        )}
      </Card>
      <Card title={t('info.files')} loading={!info}>
        <Table
          size="small" rowKey="name" pagination={false} {...wide} dataSource={info?.files}
          columns={[
            { title: t('info.file'), dataIndex: 'name' },
            { title: t('info.size'), dataIndex: 'size_bytes', align: 'end', render: bytes },
            { title: t('info.free'), dataIndex: 'free_bytes', align: 'end', render: bytes },
          ]}
        />
      </Card>
      <Card title={t('info.config')} loading={!info}>
        <Table
          size="small" rowKey="key" pagination={false} {...wide} dataSource={info?.config}
          columns={[{ title: t('info.key'), dataIndex: 'key' }, { title: t('info.value'), dataIndex: 'value' }, { title: t('info.source'), dataIndex: 'source' }]}
        />
      </Card>
    </Flex>
  )
}
