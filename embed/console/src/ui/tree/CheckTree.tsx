import { CheckSquareOutlined, SearchOutlined } from '@ant-design/icons'
import { Button, Checkbox, Empty, Flex, Input, Tooltip, Typography } from 'antd'
import { type KeyboardEvent, type ReactNode, useCallback, useMemo, useRef, useState } from 'react'
import { t } from '../../i18n'
import { clear } from '../clear'
import { count } from '../format'
import { below, type Branch, childrenOf, placesOf, pruned, type Row } from './model'
import { Fold, type Handle, indent, Rows } from './Rows'
import { Marked, useRows } from './search'
import { folded } from '../fold'

type Props<T extends Branch> = {
  label: string
  tree: T[]
  checked: Set<number>
  only?: boolean // shows only checked nodes and those above them, counted among all
  onChange?: (checked: Set<number>) => void // undefined if read-only
  name: (node: T) => string
  texts?: (node: T) => string[]
  tail?: (node: T, search: string) => ReactNode
  free?: (node: T) => boolean // whether a node can be checked and unchecked
  locked?: string // why others can't
  height: string
}

// CheckTree selects nodes of a tree. A parent does not include its children. A
// half-checked box means that the node is not checked but something below is.
export function CheckTree<T extends Branch>({
  label,
  tree: all,
  checked,
  only = false,
  onChange,
  name,
  texts = () => [],
  tail,
  free = () => true,
  locked,
  height,
}: Props<T>) {
  const [search, setSearch] = useState('')
  const wanted = folded(search)
  const tree = useMemo(() => (only ? pruned(all, checked) : all), [all, checked, only])
  const [open, setOpen] = useState(() => new Set(tree.map((node) => node.id)))
  const [active, setActive] = useState<number>()
  const list = useRef<Handle>(null)
  const { rows, hits } = useRows(tree, open, wanted, (node) => [name(node), ...texts(node)])

  // parts counts the checked nodes below each node that has any.
  const parts = useMemo(() => {
    const found = new Map<number, { n: number; of: number }>()
    const look = (node: T): { n: number; of: number } => {
      const part = { n: 0, of: 0 }
      for (const child of childrenOf(node)) {
        // biome-ignore lint/nursery/useReactCompiler: the compiler does not support recursive functions
        const { n, of } = look(child)
        part.n += n + (checked.has(child.id) ? 1 : 0)
        part.of += of + 1
      }
      if (part.of) found.set(node.id, part)
      return part
    }
    all.forEach(look)
    return found
  }, [all, checked])
  const partly = (node: T) => !checked.has(node.id) && (parts.get(node.id)?.n ?? 0) > 0
  // biome-ignore lint/correctness/useExhaustiveDependencies: what can be checked does not change while the tree is shown
  const able = useMemo(() => {
    const ids = new Set<number>()
    const look = (node: T) => {
      // biome-ignore lint/nursery/useReactCompiler: what can be checked does not change while the tree is shown
      if (free(node)) ids.add(node.id)
      childrenOf(node).forEach(look)
    }
    tree.forEach(look)
    return ids
  }, [tree]) // free does not change while the tree is shown

  const fold = useCallback(
    (node: T, to: boolean) =>
      setOpen((old) => {
        const next = new Set(old)
        if (to) next.add(node.id)
        else next.delete(node.id)
        return next
      }),
    [],
  )

  function check(ids: number[], to: boolean) {
    const next = new Set(checked)
    for (const id of ids) {
      if (!able.has(id)) continue
      if (to) next.add(id)
      else next.delete(id)
    }
    onChange?.(next)
  }

  const toggle = (node: T) => check([node.id], !checked.has(node.id))
  // whole checks a node and everything below it, or unchecks all if all are checked.
  function whole(node: T) {
    const ids = [node.id, ...below(node)].filter((id) => able.has(id))
    check(ids, !ids.every((id) => checked.has(id)))
  }

  function keys(e: KeyboardEvent, { node, leaf }: Row<T>): boolean {
    if (e.key !== ' ' || !onChange || e.altKey || e.ctrlKey || e.metaKey) return false
    if (e.shiftKey && !leaf) whole(node)
    else toggle(node)
    return true
  }

  const line = (row: Row<T>, current: boolean) => {
    const mine = Boolean(onChange) && able.has(row.node.id)
    const box = (
      <span
        aria-hidden
        style={{ marginInlineEnd: 2 }}
        onMouseDown={(e) => {
          e.preventDefault()
          list.current?.focus(row.node.id)
        }}
      >
        <Checkbox tabIndex={-1} checked={checked.has(row.node.id)} indeterminate={partly(row.node)} disabled={!mine} onChange={() => toggle(row.node)} />
      </span>
    )
    return (
      <div className="tree-first" style={{ paddingInlineStart: indent(row.level, true) * 1.5 }}>
        <Fold row={row} name={name(row.node)} fold={fold} />
        {onChange && !mine && locked ? <Tooltip title={locked}>{box}</Tooltip> : box}
        <bdi className="tree-name" title={name(row.node)} style={{ cursor: mine ? 'pointer' : undefined }} onClick={mine ? () => toggle(row.node) : undefined}>
          <Marked text={name(row.node)} search={wanted} />
        </bdi>
        {tail?.(row.node, wanted)}
        <span style={{ flex: 1 }} />
        {!row.leaf && (
          <Typography.Text type="secondary" style={{ fontSize: 12, flex: 'none' }} title={t(only ? 'tree.part.held' : 'tree.part', parts.get(row.node.id))}>
            {t('tree.part.short', parts.get(row.node.id))}
          </Typography.Text>
        )}
        {onChange && !row.leaf && (
          <Button
            type="text"
            size="small"
            icon={<CheckSquareOutlined />}
            tabIndex={current ? 0 : -1}
            aria-label={t('tree.whole', { name: name(row.node) })}
            title={t('tree.whole', { name: name(row.node) })}
            onClick={() => whole(row.node)}
          />
        )}
      </div>
    )
  }
  return (
    <>
      <Flex gap={8} wrap align="center" style={{ marginBottom: 8 }}>
        <Input
          allowClear={clear()}
          prefix={<SearchOutlined />}
          style={{ width: 240, maxWidth: '100%' }}
          aria-label={t('tree.search', { of: label })}
          placeholder={t('search')}
          value={search}
          onChange={(e) => setSearch(e.target.value)}
        />
        <Typography.Text type="secondary">
          {only ? t('tree.held', { n: count(checked.size), all: count(placesOf(all).size) }) : t('selected', { n: checked.size })}
          {hits && `, ${t('tree.hits', { n: hits.size })}`}
        </Typography.Text>
      </Flex>
      {rows.length ? (
        <Rows<T>
          ref={list}
          rows={rows}
          label={label}
          active={active}
          onActive={setActive}
          fold={fold}
          onKey={keys}
          line={line}
          height={height}
          about={(row) => ({
            'aria-checked': checked.has(row.node.id) ? true : partly(row.node) ? 'mixed' : false,
            'aria-disabled': !onChange || (row.leaf && !able.has(row.node.id)) || undefined,
          })}
        />
      ) : (
        <Empty image={Empty.PRESENTED_IMAGE_SIMPLE} description={search ? t('empty.narrowed') : t('none')} />
      )}
      {onChange && rows.length > 0 && (
        <Typography.Text type="secondary" style={{ fontSize: 12, display: 'block', marginTop: 8 }}>
          {t('tree.check.hint')}
        </Typography.Text>
      )}
    </>
  )
}
