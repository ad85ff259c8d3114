import { CheckCircleFilled, CloseCircleFilled } from '@ant-design/icons'
import { Breadcrumb, Card, Drawer, Flex, Form, Tag, theme, TreeSelect, Typography } from 'antd'
import { type ReactNode, useMemo, useState } from 'react'
import type { Explanation, PermissionNode, User } from '../../api/types'
import { given, type Key, maybe, t } from '../../i18n'
import { useGet } from '../../ui/useGet'
import { useWider } from '../../ui/useWider'
import { names } from './person'

type Props = { open: boolean; user: User; onClose: () => void }

type Node = { value: string; label: string; text: string; children?: Node[] }

// scoped are the permissions whose lists are limited by the data scope.
const scoped = /^(admin\.(list|dept)|file\.(list|trash)|system\.(session|loginlog|monitor|job))\b/

// Explain shows whether a user has a permission, and why.
export function Explain({ open, user, onClose }: Props) {
  const md = useWider('md')
  return (
    <Drawer title={t('people.explain.title', { name: names([user]) })} open={open} onClose={onClose} size={md ? 520 : '100%'} destroyOnHidden>
      <Question user={user} />
    </Drawer>
  )
}

// Question selects one permission and shows the answer.
export function Question({ user }: { user: User }) {
  const [key, setKey] = useState<string>()
  const tree = useGet('/admin/rule').data?.data
  const { data, loading } = useGet(key ? '/admin/permission/explain' : '', { user_id: user.id, key })
  const nodes = useMemo(() => (tree ?? []).map(nodeOf), [tree])
  return (
    <>
      <Form layout="vertical">
        <Form.Item label={t('people.explain.ask')} htmlFor="permission">
          <TreeSelect<string, Node>
            id="permission"
            showSearch={{ treeNodeFilterProp: 'text' }}
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
      </Form>
      <div aria-live="polite" aria-busy={loading}>
        {data && key ? (
          <Answer user={user} of={data} nodes={nodes} />
        ) : (
          <Typography.Text type="secondary">{t('people.explain.start', { name: names([user]) })}</Typography.Text>
        )}
      </div>
    </>
  )
}

function Answer({ user, of, nodes }: { user: User; of: Explanation; nodes: Node[] }) {
  const { token } = theme.useToken()
  const labels = useMemo(() => labelsOf(nodes), [nodes])
  const label = (step: { key: string; name: string }) => labels.get(step.key) ?? given(step.name)
  const at = of.path.at(-1)?.key
  const off = of.path.find((step) => step.status === 0)
  const why = t(`people.explain.${of.reason}` as Key, { name: names([user]), above: off ? label(off) : '' })
  return (
    <Card>
      <Flex vertical gap={16}>
        <Flex gap={12} align="start">
          {of.allowed ? (
            <CheckCircleFilled style={{ fontSize: 24, color: token.colorSuccess }} />
          ) : (
            <CloseCircleFilled style={{ fontSize: 24, color: token.colorError }} />
          )}
          <div style={{ overflowWrap: 'anywhere' }}>
            <Typography.Text strong style={{ fontSize: 16, display: 'block' }}>
              {t(of.allowed ? 'people.explain.allowed' : 'people.explain.denied')}
            </Typography.Text>
            {why}
          </div>
        </Flex>
        {of.roles.length > 0 && (
          <Part title={t(of.allowed ? 'people.explain.by' : 'people.explain.would')}>
            <Flex gap={4} wrap>
              {of.roles.map((role) => (
                <Tag key={role.id} style={{ margin: 0, whiteSpace: 'normal', overflowWrap: 'anywhere' }}>
                  {role.name}
                </Tag>
              ))}
            </Flex>
          </Part>
        )}
        {of.allowed && of.limited === 1 && scoped.test(at ?? '') && <Typography.Text>{t('people.explain.limited', { name: names([user]) })}</Typography.Text>}
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
