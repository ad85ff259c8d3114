import { CheckCircleFilled, CloseCircleFilled, QuestionCircleOutlined } from '@ant-design/icons'
import { Breadcrumb, Card, Drawer, Flex, Form, Tag, theme, TreeSelect, Typography } from 'antd'
import dayjs from 'dayjs'
import { type ReactNode, useMemo, useState } from 'react'
import type { Explanation, PermissionNode } from '../../api/types'
import { given, type Key, maybe, t } from '../../i18n'
import { LazyMoment } from '../../ui/LazyMoment'
import { RoleTags } from '../../ui/RoleTags'
import { useGet } from '../../ui/useGet'
import { useWider } from '../../ui/useWider'
import type { Subject } from './person'
import { byText } from '../../ui/fold'

type Props = { open: boolean; of: Subject; onClose: () => void }

type Node = { value: string; label: string; text: string; children?: Node[] }

// scoped are the permissions whose lists are limited by the data scope.
const scoped = /^(admin\.(list|dept)|file\.(list|trash)|system\.(session|loginlog|monitor|job))\b/

// Explain shows whether a user or an API key has a permission, and why.
export function Explain({ open, of, onClose }: Props) {
  const md = useWider('md')
  return (
    <Drawer title={t('people.explain.title', { name: of.name })} open={open} onClose={onClose} size={md ? 520 : '100%'} destroyOnHidden>
      <Question of={of} />
    </Drawer>
  )
}

// Question selects one permission and, for a user, optionally an earlier time, and shows the answer.
export function Question({ of, start }: { of: Subject; start?: string | undefined }) {
  const [key, setKey] = useState(start)
  const [at, setAt] = useState<string>()
  const tree = useGet('/admin/rule').data?.data
  const nodes = useMemo(() => (tree ?? []).map(nodeOf), [tree])
  return (
    <>
      <Form layout="vertical">
        <Form.Item label={t('people.explain.ask')} htmlFor="permission">
          <TreeSelect<string, Node>
            id="permission"
            showSearch={byText('text')}
            placeholder={t('people.explain.pick')}
            value={key}
            onChange={setKey}
            treeNodeLabelProp="label"
            listHeight={400}
            treeData={nodes}
            treeTitleRender={(node) => (
              <>
                {node.label}{' '}
                <Typography.Text type="secondary" style={{ fontSize: 12 }}>
                  {node.value}
                </Typography.Text>
              </>
            )}
          />
        </Form.Item>
        {!of.key && <Earlier onChange={setAt} />}
      </Form>
      <div aria-live="polite">
        {key ? (
          <Result key={at} subject={of} permission={key} at={at} nodes={nodes} />
        ) : (
          <Typography.Text type="secondary">{t('people.explain.start', { name: of.name })}</Typography.Text>
        )}
      </div>
    </>
  )
}

// Earlier selects a time in the past.
function Earlier({ onChange }: { onChange: (at?: string) => void }) {
  const [at, setAt] = useState('')
  const ahead = at !== '' && dayjs(at).isAfter(dayjs())

  function choose(to: string) {
    setAt(to)
    if (!dayjs(to).isAfter(dayjs())) onChange(to || undefined)
  }

  return (
    <Form.Item
      label={t('people.explain.at')}
      htmlFor="permission-at"
      validateStatus={ahead ? 'error' : ''}
      extra={<span id="permission-at-help">{t(ahead ? 'people.explain.future' : 'people.explain.now')}</span>}
    >
      <LazyMoment id="permission-at" aria-describedby="permission-at-help" exact="second" max={dayjs().format('YYYY-MM-DD')} value={at} onChange={choose} />
    </Form.Item>
  )
}

// Result never shows the answer for another time: its key is the time.
function Result({ subject, permission, at, nodes }: { subject: Subject; permission: string; at: string | undefined; nodes: Node[] }) {
  const { data, loading } = useGet('/admin/permission/explain', { ...subject.query, key: permission, at })
  return <div aria-busy={loading}>{data && <Answer subject={subject} of={data} at={at} nodes={nodes} />}</div>
}

const exact = (at: string) => dayjs(at).format('YYYY-MM-DD HH:mm:ss')

function Answer({ subject: { name, key }, of, at: when, nodes }: { subject: Subject; of: Explanation; at: string | undefined; nodes: Node[] }) {
  const { token } = theme.useToken()
  const labels = useMemo(() => labelsOf(nodes), [nodes])
  const label = (step: { key: string; name: string }) => labels.get(step.key) ?? given(step.name)
  const at = of.path.at(-1)?.key
  const off = of.path.find((step) => step.status === 0)
  // text is a text that can be another one for API keys.
  const text = (what: string, values = {}) => {
    const special = `people.explain.of_key.${what}`
    return t((key && maybe(special) ? special : `people.explain.${what}`) as Key, { name, ...values })
  }
  const why = text(of.reason, { above: off ? label(off) : '', from: of.known_from ? exact(of.known_from) : '' })
  const known = of.reason !== 'unknown'
  return (
    <Card>
      <Flex vertical gap={16}>
        <Flex gap={12} align="start">
          {!known ? (
            <QuestionCircleOutlined style={{ fontSize: 24, color: token.colorTextSecondary }} />
          ) : of.allowed ? (
            <CheckCircleFilled style={{ fontSize: 24, color: token.colorSuccess }} />
          ) : (
            <CloseCircleFilled style={{ fontSize: 24, color: token.colorError }} />
          )}
          <div style={{ overflowWrap: 'anywhere' }}>
            <Typography.Text strong style={{ fontSize: 16, display: 'block' }}>
              {t(!known ? 'people.explain.not_known' : of.allowed ? 'people.explain.allowed' : 'people.explain.denied')}
            </Typography.Text>
            {when && <Typography.Text style={{ display: 'block' }}>{t('people.explain.as_of', { time: exact(when) })}</Typography.Text>}
            {why}
          </div>
        </Flex>
        {of.roles.length > 0 && (
          <Part title={t(of.allowed ? 'people.explain.by' : 'people.explain.would')}>
            <RoleTags ids={of.roles.map(({ id }) => id)} names={of.roles.map(({ name }) => name)} />
          </Part>
        )}
        {of.allowed && of.limited === 1 && scoped.test(at ?? '') && <Typography.Text>{text('limited')}</Typography.Text>}
        {of.path.length > 0 && (
          <Part title={t('people.explain.path')}>
            <Breadcrumb
              items={of.path.map((step) => ({
                key: step.id,
                title: (
                  <>
                    {label(step)}
                    {step.status === 0 && (
                      <>
                        {' '}
                        <Tag color="error">{t('disabled')}</Tag>
                      </>
                    )}
                  </>
                ),
              }))}
            />
          </Part>
        )}
      </Flex>
    </Card>
  )
}

function Part({ title, children }: { title: string; children: ReactNode }) {
  return (
    <div>
      <Typography.Text type="secondary" style={{ display: 'block', marginBottom: 4 }}>
        {title}
      </Typography.Text>
      {children}
    </div>
  )
}

// nodeOf is an entry of the permission select, found by name and key.
function nodeOf(p: PermissionNode): Node {
  const label = maybe(p.local) ?? given(p.name)
  return { value: p.key, label, text: `${label} ${p.name} ${p.key}`, children: p.children?.map(nodeOf) }
}

function labelsOf(nodes: Node[], into = new Map<string, string>()): Map<string, string> {
  for (const node of nodes) {
    into.set(node.value, node.label)
    labelsOf(node.children ?? [], into)
  }
  return into
}
