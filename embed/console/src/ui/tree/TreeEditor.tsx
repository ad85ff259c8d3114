import { ColumnHeightOutlined, HolderOutlined, MoreOutlined, VerticalAlignMiddleOutlined } from '@ant-design/icons'
import { Button, Dropdown, Empty, Flex, type MenuProps, Skeleton, Typography } from 'antd'
import { type KeyboardEvent, type ReactNode, useCallback, useEffect, useEffectEvent, useId, useMemo, useRef, useState } from 'react'
import { t } from '../../i18n'
import { CreateButton } from '../CreateButton'
import { Bar } from '../Bar'
import { Nothing } from '../Nothing'
import { useQueryParams } from '../useQueryParams'
import { useWider } from '../useWider'
import { childrenOf, placesOf, type Row } from './model'
import { Fold, type Handle, indent, rowHeight, Rows } from './Rows'
import { Marked, useRows } from './search'
import { useDrag } from './useDrag'
import { type Record, type Trees, useMoves } from './useMoves'
import { folded } from '../fold'

export type Column<T> = { key: string; title: string; width: number; render: (node: T, current: boolean) => ReactNode; wide?: boolean } // wide: not on a phone

type Props<T extends Record> = {
  title: string
  path: Trees // path of the records
  tree?: T[] // undefined while it loads
  set: (tree: T[]) => void
  reload: () => Promise<unknown>
  reveal?: number // a node to reveal, such as a new one
  name: (node: T) => string
  texts: (node: T) => string[] // texts to search besides the name
  lead?: (node: T) => ReactNode // before the name
  tail?: (node: T, search: string) => ReactNode // after it
  columns: Column<T>[]
  holds?: (node: T) => boolean // whether a node can have children
  createText: string
  create?: (parent?: T) => void // these are undefined without permission
  edit?: (node: T) => void
  movable?: boolean
  remove?: (node: T) => void
  then?: () => void // called after a move is saved
  empty: string
}

// TreeEditor shows and edits a tree: by drag, by keyboard and by each row's menu.
export function TreeEditor<T extends Record>(props: Props<T>) {
  const { tree, name, columns, create, edit, remove, movable = false, holds = () => true } = props
  const { params, set } = useQueryParams()
  const search = folded(params.get('keywordSearch') ?? '')
  const tops = useMemo(() => tree ?? [], [tree])
  const md = useWider('md')
  const lg = useWider('lg')
  const [chosen, setOpen] = useState<Set<number>>()
  const open = useMemo(() => chosen ?? new Set(tops.map((node) => node.id)), [chosen, tops])
  const [active, setActive] = useState<number>()
  const [announcement, announce] = useState('')
  const hint = useId()
  const list = useRef<Handle>(null)
  const places = useMemo(() => placesOf(tops), [tops])
  const { rows, hits } = useRows(tops, open, search, (node) => [name(node), ...props.texts(node)])
  const moves = useMoves<T>({ ...props, tree: tops })
  const canMove = movable && !search

  const { reveal } = props
  const revealed = reveal !== undefined && places.has(reveal) ? reveal : undefined
  const openTo = useEffectEvent((id: number) => {
    const above: number[] = []
    for (let node = places.get(id)?.parent; node; node = places.get(node.id)?.parent) above.push(node.id)
    setOpen((old) => new Set([...(old ?? open), ...above]))
    setActive(id)
  })
  useEffect(() => {
    if (revealed !== undefined) openTo(revealed)
  }, [revealed])

  // If the focused row disappears, the one in its place gets the focus.
  const stood = useRef(0)
  useEffect(() => {
    const at = rows.findIndex((row) => row.node.id === active)
    const next = rows[Math.min(stood.current, rows.length - 1)]
    if (at >= 0) stood.current = at
    else if (active !== undefined && next && !places.has(active)) list.current?.focus(next.node.id)
  }, [rows, active, places])

  const fold = useCallback(
    (node: T, to: boolean) => {
      setOpen((old) => {
        const next = new Set(old ?? open)
        if (to) next.add(node.id)
        else next.delete(node.id)
        return next
      })
    },
    [open],
  )

  // place moves a node and announces its new position.
  function place(id: number, parent: number, index: number) {
    if (!moves.move(id, parent, index)) return
    const now = placesOf(moves.tree())
    const { node, parent: above, position, size } = now.get(id)!
    if (above) setOpen((old) => new Set(old ?? open).add(above.id))
    announce(t(above ? 'tree.said.below' : 'tree.said.top', { name: name(node), parent: above ? name(above) : '', position, size }))
    list.current?.focus(id)
  }

  // target of a step; undefined if there is none.
  function step(id: number, way: Way): { parent: number; index: number } | undefined {
    const now = placesOf(moves.tree())
    const { parent, position, size } = now.get(id)!
    const siblings = parent ? childrenOf(parent) : moves.tree()
    const [above, before] = [parent?.id ?? 0, siblings[position - 2]]
    switch (way) {
      case 'up':
        return position > 1 ? { parent: above, index: position - 2 } : undefined
      case 'down':
        return position < size ? { parent: above, index: position } : undefined
      case 'out':
        return parent && { parent: now.get(parent.id)!.parent?.id ?? 0, index: now.get(parent.id)!.position }
      case 'in':
        return before && holds(before) ? { parent: before.id, index: childrenOf(before).length } : undefined
    }
  }

  function go(id: number, way: Way) {
    const to = step(id, way)
    if (to) place(id, to.parent, to.index)
    else announce(t('tree.said.end'))
  }

  function keys(e: KeyboardEvent, { node }: Row<T>): boolean {
    const way = ways[e.key]
    if (e.altKey && !e.ctrlKey && !e.metaKey && way && movable) {
      if (search) announce(t('tree.said.search'))
      else go(node.id, way)
      return true
    }
    if (e.key !== 'Enter' || e.altKey || e.ctrlKey || e.metaKey || !edit) return false
    edit(node)
    return true
  }

  const { drag, start } = useDrag({
    rows,
    places,
    tops,
    list,
    narrow: !md,
    holds,
    drop: (id, target) => place(id, target.parent, target.index),
  })

  function menu(node: T): MenuProps['items'] {
    const at = (way: Way) => ({ key: way, label: t(`tree.${way}`), disabled: !canMove || !step(node.id, way), onClick: () => go(node.id, way) })
    return [
      ...(edit ? [{ key: 'edit', label: t('edit'), onClick: () => edit(node) }] : []),
      ...(create && holds(node) ? [{ key: 'create', label: t('tree.create'), onClick: () => create(node) }] : []),
      ...(movable ? [{ type: 'divider' as const }, at('up'), at('down'), at('out'), at('in')] : []),
      ...(remove ? [{ type: 'divider' as const }, { key: 'delete', danger: true, label: t('delete'), onClick: () => remove(node) }] : []),
    ]
  }

  const shown = columns.filter((column) => lg || !column.wide)
  const acts = Boolean(edit || create || movable || remove)
  const template = ['minmax(0, 1fr)', ...shown.map((column) => `${column.width}px`), ...(acts ? ['32px'] : [])].join(' ')
  const target = drag?.target
  const line = (row: Row<T>, current: boolean) => (
    <>
      <div role="gridcell" className="tree-first" style={{ paddingInlineStart: indent(row.level, !md) }}>
        {canMove && (
          <span
            className="tree-handle"
            aria-hidden
            title={t('tree.drag')}
            onPointerDown={(e) => {
              setActive(row.node.id)
              start(e, row.node.id)
            }}
          >
            <HolderOutlined />
          </span>
        )}
        <Fold row={row} name={name(row.node)} fold={fold} />
        {md && props.lead?.(row.node)}
        <bdi className="tree-name" title={name(row.node)} onDoubleClick={edit && (() => edit(row.node))}>
          <Marked text={name(row.node)} search={search} />
        </bdi>
        {md && props.tail?.(row.node, search)}
      </div>
      {shown.map((column) => (
        <div key={column.key} role="gridcell" className="tree-cell">
          {column.render(row.node, current)}
        </div>
      ))}
      {acts && (
        <div role="gridcell">
          <More items={() => menu(row.node)} current={current} label={t('tree.more', { name: name(row.node) })} />
        </div>
      )}
    </>
  )
  const button = create !== undefined && <CreateButton onClick={() => create()}>{props.createText}</CreateButton>
  return (
    <>
      <Bar
        title={props.title}
        list={{ params, set, reload: async () => void (await props.reload()) }}
        filters={
          <>
            <Button icon={<ColumnHeightOutlined />} aria-label={t('tree.all')} title={t('tree.all')} onClick={() => setOpen(new Set(places.keys()))} />
            <Button icon={<VerticalAlignMiddleOutlined />} aria-label={t('tree.least')} title={t('tree.least')} onClick={() => setOpen(new Set())} />
          </>
        }
        actions={button}
      />
      {!tree && <Skeleton active title={false} paragraph={{ rows: 8 }} />}
      {tree &&
        !rows.length &&
        (search ? (
          <Empty image={Empty.PRESENTED_IMAGE_SIMPLE} description={t('empty.narrowed')}>
            <Button onClick={() => set({ keywordSearch: undefined })}>{t('empty.clear')}</Button>
          </Empty>
        ) : (
          <Nothing why={props.empty} create={button} />
        ))}
      {rows.length > 0 && (
        <>
          <Rows<T>
            ref={list}
            rows={rows}
            label={props.title}
            describedBy={movable ? hint : undefined}
            active={active}
            onActive={setActive}
            fold={fold}
            onKey={keys}
            line={line}
            height="calc(100dvh - 216px - var(--acting, 0px))"
            grid={{
              columns: template,
              head: (
                <>
                  {[t('name'), ...shown.map((column) => column.title)].map((title) => (
                    <span key={title} role="columnheader" className="tree-cell">
                      {title}
                    </span>
                  ))}
                  {acts && (
                    <span role="columnheader">
                      <span className="tree-aside">{t('actions')}</span>
                    </span>
                  )}
                </>
              ),
            }}
            about={(row) => ({ className: row.node.id === drag?.id ? 'dragged' : target && !target.gap && target.parent === row.node.id ? 'into' : undefined })}
            over={target?.gap && <Gap target={target.gap} narrow={!md} />}
          />
          <Flex wrap gap="4px 16px" justify="space-between" style={{ marginTop: 8 }}>
            <Typography.Text type="secondary" id={hint} style={{ fontSize: 12 }}>
              {movable && (search ? t('tree.said.search') : t('tree.hint'))}
            </Typography.Text>
            <Typography.Text type="secondary" style={{ fontSize: 12 }}>
              {hits ? t('tree.found', { n: hits.size, all: places.size }) : t('total', { n: places.size })}
            </Typography.Text>
          </Flex>
        </>
      )}
      <div className="tree-aside" aria-live="polite">
        {announcement}
      </div>
    </>
  )
}

type Way = 'up' | 'down' | 'out' | 'in'

const ways: { [key: string]: Way } = { ArrowUp: 'up', ArrowDown: 'down', ArrowLeft: 'out', ArrowRight: 'in' }

// More is the menu of a row, created when it opens.
function More({ items, current, label }: { items: () => MenuProps['items']; current: boolean; label: string }) {
  const [offered, setOffered] = useState<MenuProps['items']>([])
  return (
    <Dropdown trigger={['click']} menu={{ items: offered }} placement="bottomRight" onOpenChange={(opens) => opens && setOffered(items())}>
      <Button type="text" size="small" icon={<MoreOutlined />} tabIndex={current ? 0 : -1} aria-label={label} />
    </Dropdown>
  )
}

// Gap marks the drop position between two rows.
function Gap({ target, narrow }: { target: { row: number; level: number }; narrow: boolean }) {
  return <div className="tree-gap" style={{ top: target.row * rowHeight, insetInlineStart: 12 + indent(target.level, narrow) }} />
}
