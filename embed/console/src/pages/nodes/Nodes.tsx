import { Alert, Card, Descriptions, Flex, Tag, Tooltip, Typography } from 'antd'
import { Link } from 'react-router'
import type { EtcdMember, NodeState, NodesState } from '../../api/types'
import { joined, t } from '../../i18n'
import { bytes, count, duration, percent } from '../../ui/format'
import { Records } from '../../ui/Records'
import { sentence } from '../../ui/sentence'
import { Time } from '../../ui/Time'
import { useLive } from '../../ui/useLive'
import { wide } from '../../ui/Wide'
import { words } from '../../ui/words'
import { full, late, mark } from './state'

const every = 5 // seconds

// Nodes shows the servers that share the data, and the members of etcd that put their commits in order.
export function Nodes() {
  const { data: state, failure } = useLive('/system/node', every)
  return (
    <Flex vertical gap={16}>
      <Typography.Title level={1} style={{ fontSize: 20, margin: 0 }}>
        {t('menu.system.node')}
      </Typography.Title>
      {failure && <Alert type="warning" showIcon title={words(failure)} />}
      {state && !state.cluster && <Only />}
      {(!state || state.cluster === 1) && <Several state={state} failed={failure !== undefined} />}
    </Flex>
  )
}

// Only says that this server is the only one.
function Only() {
  return <Alert type="info" showIcon title={t('nodes.only')} description={<Link to="/help/several-nodes">{t('nodes.only.manual')}</Link>} />
}

function Several({ state, failed }: { state: NodesState | undefined; failed: boolean }) {
  return (
    <>
      {state?.error && <Alert type="error" showIcon title={t('nodes.etcd.silent')} description={sentence(state.error)} />}
      <Card title={t('nodes.nodes')} loading={!state && !failed} styles={{ body: { padding: '4px 16px 12px' } }}>
        {state && <List state={state} />}
      </Card>
      <Card title={t('nodes.log')} loading={!state && !failed}>
        {state && <Log state={state} />}
      </Card>
      <Card title="etcd" loading={!state && !failed} styles={{ body: { padding: '4px 16px 12px' } }}>
        {state && <Members members={state.etcd} />}
      </Card>
    </>
  )
}

function List({ state }: { state: NodesState }) {
  return (
    <Records<NodeState>
      rowKey={(node) => `${node.name} ${node.started_at} ${node.contact}`}
      size="small"
      pagination={false}
      {...wide}
      locale={{ emptyText: t('nodes.empty') }}
      dataSource={state.nodes}
      columns={[
        { title: t('nodes.name'), key: 'name', render: (_, node) => <Name node={node} /> },
        { title: t('nodes.applied'), key: 'applied', align: 'end', render: (_, node) => <Applied node={node} /> },
        { title: t('nodes.config'), key: 'config', render: (_, node) => <Config node={node} /> },
        { title: t('nodes.reported'), dataIndex: 'reported_at', render: (at: string | null) => <Time at={at} /> },
        { title: t('nodes.started'), dataIndex: 'started_at', render: (at: string | null) => <Time at={at} /> },
        {
          title: t('nodes.free'),
          dataIndex: 'disk_free_bytes',
          align: 'end',
          render: (n: number) => (n < 0 ? '—' : bytes(n)),
        },
        { title: t('nodes.data'), dataIndex: 'data_bytes', align: 'end', render: (n: number) => (n ? bytes(n) : '—') },
        {
          title: t('nodes.version'),
          key: 'version',
          render: (_, node) => (node.schema ? t('nodes.version.schema', { version: node.version, schema: node.schema }) : node.version),
        },
      ]}
    />
  )
}

function Name({ node }: { node: NodeState }) {
  return (
    <Flex gap={4} wrap align="center" style={{ maxWidth: 240 }}>
      <Typography.Text strong style={{ overflowWrap: 'anywhere' }}>
        {node.name}
      </Typography.Text>
      {node.self === 1 && <Tag>{t('nodes.self')}</Tag>}
      {node.duties === 1 && (
        <Tooltip title={t('nodes.duties.what')}>
          <Tag color="processing">{t('nodes.duties')}</Tag>
        </Tooltip>
      )}
      {node.contact === 0 && <Tag color="error">{t('nodes.lost')}</Tag>}
    </Flex>
  )
}

function Applied({ node }: { node: NodeState }) {
  return (
    <>
      <div>{count(node.applied)}</div>
      {node.behind > 0 && <Typography.Text type={late(node) ? 'warning' : 'secondary'}>{t('nodes.behind', { n: count(node.behind) })}</Typography.Text>}
    </>
  )
}

function Config({ node }: { node: NodeState }) {
  const is = mark(node)
  if (is !== 'differs') return <Tag color={is === 'equal' ? 'success' : 'default'}>{t(`nodes.config.${is}`)}</Tag>
  return (
    <Flex vertical align="start" gap={4}>
      <Tag color="warning">{t('nodes.config.differs')}</Tag>
      {node.differs.map((key) => (
        <Typography.Text key={key} code style={{ overflowWrap: 'anywhere' }}>
          {key}
        </Typography.Text>
      ))}
    </Flex>
  )
}

function Log({ state }: { state: NodesState }) {
  return (
    <Descriptions
      column={{ xs: 1, lg: 2, xl: 3 }}
      size="small"
      items={[
        { label: t('nodes.entry'), children: count(state.number) },
        { label: t('nodes.base'), children: t('nodes.base.entry', { n: count(state.base) }) },
        { label: t('nodes.base.at'), children: <Time at={state.base_at} /> },
        { label: t('nodes.epoch'), children: <Typography.Text code>{state.epoch || '—'}</Typography.Text> },
      ]}
    />
  )
}

function Members({ members }: { members: EtcdMember[] }) {
  return (
    <Records<EtcdMember>
      rowKey="endpoint"
      size="small"
      pagination={false}
      {...wide}
      dataSource={members}
      columns={[
        {
          title: t('nodes.member'),
          key: 'endpoint',
          render: (_, member) => (
            <Flex gap={4} wrap align="center">
              <span style={{ overflowWrap: 'anywhere' }}>{member.endpoint}</span>
              {member.leader === 1 && <Tag color="processing">{t('nodes.leader')}</Tag>}
            </Flex>
          ),
        },
        { title: t('nodes.member.state'), key: 'state', render: (_, member) => <State member={member} /> },
        { title: t('nodes.latency'), key: 'latency', align: 'end', render: (_, member) => (member.error ? '—' : duration(member.latency_ms)) },
        { title: t('nodes.size'), key: 'bytes', align: 'end', render: (_, member) => (member.error ? '—' : bytes(member.bytes)) },
        { title: t('nodes.in_use'), key: 'used', align: 'end', render: (_, member) => (member.error ? '—' : bytes(member.used_bytes)) },
        { title: t('nodes.quota'), key: 'quota', align: 'end', render: (_, member) => <Quota member={member} /> },
        { title: t('nodes.version'), dataIndex: 'version', render: (version: string) => version || '—' },
      ]}
    />
  )
}

function State({ member }: { member: EtcdMember }) {
  const faults = [...(member.error ? [member.error] : []), ...member.alarms]
  if (!faults.length) return <Tag color="success">{t('nodes.member.ok')}</Tag>
  return (
    <Flex vertical align="start" gap={4}>
      <Tag color="error">{t(member.error && member.version ? 'nodes.member.alone' : member.error ? 'nodes.member.silent' : 'nodes.member.alarm')}</Tag>
      <Typography.Text style={{ overflowWrap: 'anywhere', whiteSpace: 'normal', maxWidth: 320, display: 'inline-block' }}>{joined(faults)}</Typography.Text>
    </Flex>
  )
}

function Quota({ member }: { member: EtcdMember }) {
  if (!member.quota_bytes) return <>—</>
  return (
    <>
      <div>{bytes(member.quota_bytes)}</div>
      <Typography.Text type={full(member) ? 'warning' : 'secondary'}>
        {t('nodes.quota.share', { share: percent(member.bytes, member.quota_bytes) })}
      </Typography.Text>
    </>
  )
}
