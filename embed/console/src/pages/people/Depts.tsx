import { ApartmentOutlined, MenuFoldOutlined } from '@ant-design/icons'
import { Button, Empty, Flex, theme, Tree } from 'antd'
import type { BasicDataNode } from 'antd/es/tree'
import { type Key, useEffect, useMemo, useState } from 'react'
import type { DeptNode } from '../../api/types'
import { t } from '../../i18n'
import { actingHeight } from '../../ui/acting-height'
import { Find } from '../../ui/Find'
import { marked } from '../../ui/offered'
import { deptsOpen, deptsWidth, setDeptsOpen } from './depts-open'
import { folded, has } from '../../ui/fold'
import './people.css'

type Props = { depts: DeptNode[]; value?: string; onChange: (id?: string) => void }

// Depts is the department tree beside the users; a selected one filters them to its
// subtree.
export function Depts({ depts, value, onChange }: Props) {
  const [open, setOpen] = useState(deptsOpen)
  const [text, setText] = useState('')
  const [expanded, setExpanded] = useState<Key[]>(() => [...depts.map((d) => d.id), ...above(depts, Number(value))])
  const height = useRest()
  const { token } = theme.useToken()
  const found = useMemo(() => matching(depts, folded(text)), [depts, text])

  function turn(to: boolean) {
    setDeptsOpen(to)
    setOpen(to)
  }

  if (!open) return <Button icon={<ApartmentOutlined />} aria-label={t('people.depts.open')} title={t('people.depts.open')} onClick={() => turn(true)} />
  return (
    <aside
      className="depts"
      aria-label={t('menu.admin.dept')}
      style={{
        flex: `0 0 ${deptsWidth()}px`,
        width: deptsWidth(),
        boxSizing: 'border-box',
        position: 'sticky',
        top: 'calc(68px + var(--acting, 0px))',
        padding: 8,
        borderRadius: token.borderRadiusLG,
        border: `1px solid ${token.colorBorderSecondary}`,
        background: token.colorBgContainer,
      }}
    >
      <Flex gap={4} style={{ marginBottom: 8 }}>
        <Find label={t('people.depts.search')} hint={t('search')} value={text} onChange={setText} />
        <Button type="text" icon={<MenuFoldOutlined />} aria-label={t('people.depts.close')} title={t('people.depts.close')} onClick={() => turn(false)} />
      </Flex>
      <Button
        block
        type={value ? 'text' : 'default'}
        aria-pressed={!value}
        style={{ justifyContent: 'flex-start', marginBottom: 4 }}
        onClick={() => onChange(undefined)}
      >
        {t('people.depts.all')}
      </Button>
      <div>
        {found.shown.length > 0 ? (
          <Tree<DeptNode & BasicDataNode>
            treeData={found.shown}
            fieldNames={{ title: 'name', key: 'id', children: 'children' }}
            height={height}
            blockNode
            aria-label={t('menu.admin.dept')}
            selectedKeys={value ? [Number(value)] : []}
            onSelect={(_, { node, selected }) => onChange(selected ? String(node.id) : undefined)}
            expandedKeys={found.opened ?? expanded}
            onExpand={(keys) => {
              if (!found.opened) setExpanded(keys)
            }}
            titleRender={(dept) => <Name dept={dept} />}
          />
        ) : (
          <Empty image={Empty.PRESENTED_IMAGE_SIMPLE} description={text ? t('empty.narrowed') : t('people.depts.none')} />
        )}
      </div>
    </aside>
  )
}

function Name({ dept }: { dept: DeptNode }) {
  return (
    <span title={dept.name} dir="auto" style={{ overflow: 'hidden', textOverflow: 'ellipsis', whiteSpace: 'nowrap' }}>
      {marked(dept)}
    </span>
  )
}

// matching returns the departments whose names contain a text, with their parents and
// children; parents of matches are expanded.
function matching(depts: DeptNode[], text: string): { shown: DeptNode[]; opened?: Key[] } {
  if (!text) return { shown: depts }
  const opened: Key[] = []
  const keep = (nodes: DeptNode[]): DeptNode[] =>
    nodes.flatMap((node) => {
      const below = keep(node.children ?? [])
      if (below.length > 0) opened.push(node.id)
      if (below.length > 0) return { ...node, children: below }
      return has(text, node.name) ? node : []
    })
  return { shown: keep(depts), opened }
}

// above returns the parents of a department.
function above(depts: DeptNode[], id: number): number[] {
  for (const dept of depts) {
    if (dept.id === id) return []
    const way = above(dept.children ?? [], id)
    if (way.length > 0 || dept.children?.some((child) => child.id === id)) return [dept.id, ...way]
  }
  return []
}

// useRest is the height up to the bottom of the window.
function useRest(): number {
  const [height, setHeight] = useState(400)
  useEffect(() => {
    const fit = () => setHeight(Math.max(160, window.innerHeight - 216 - actingHeight()))
    fit()
    window.addEventListener('resize', fit)
    return () => window.removeEventListener('resize', fit)
  }, [])
  return height
}
