import { Form, TreeSelect } from 'antd'
import { useMemo } from 'react'
import { t } from '../../i18n'
import { marked } from '../../ui/offered'
import { type Branch, childrenOf, placesOf } from '../../ui/tree/model'
import { byText } from '../../ui/fold'

type Node = Branch & { status: number }

type Props<T extends Node> = {
  tree: T[]
  self?: number // excluded, since it can't be its own parent
  name: (node: T) => string
  holds?: (node: T) => boolean
}

type Choice = { value: number; title: string; disabled?: boolean; children?: Choice[] }

const every = () => true

// ParentSelect is the form field for a record's parent.
export function ParentSelect<T extends Node>({ tree, self, name, holds = every }: Props<T>) {
  const choices = useMemo(() => {
    const of = (nodes: T[], off: boolean): Choice[] =>
      nodes.filter(holds).map((node) => {
        const disabled = off || node.id === self
        // biome-ignore lint/nursery/useReactCompiler: the compiler does not support recursive functions
        return { value: node.id, title: marked({ id: node.id, name: name(node), status: node.status }), disabled, children: of(childrenOf(node), disabled) }
      })
    return of(tree, false)
  }, [tree, self, name, holds])
  const known = useMemo(() => placesOf(tree), [tree])
  return (
    <Form.Item
      name="parent_id"
      label={t('tree.parent')}
      normalize={(id?: number) => id ?? 0}
      getValueProps={(id?: number) => ({ value: id && known.has(id) ? id : undefined })}
    >
      <TreeSelect allowClear showSearch={byText('title')} placeholder={t('tree.parent.top')} treeData={choices} />
    </Form.Item>
  )
}

// lastSort is a sort order after all other children of a parent.
export function lastSort<T extends Branch & { sort: number }>(tree: T[], parent: number): number {
  const node = parent ? placesOf(tree).get(parent)?.node : undefined
  const last = (parent ? node && childrenOf(node) : tree)?.at(-1)
  return Math.min((last?.sort ?? 0) + 10, 1_000_000)
}
