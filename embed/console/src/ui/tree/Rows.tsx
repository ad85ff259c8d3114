import './tree.css'
import { RightOutlined } from '@ant-design/icons'
import { theme } from 'antd'
import {
  type CSSProperties,
  type HTMLAttributes,
  type KeyboardEvent,
  memo,
  type ReactNode,
  type Ref,
  useCallback,
  useImperativeHandle,
  useLayoutEffect,
  useRef,
  useState,
} from 'react'
import { t } from '../../i18n'
import type { Branch, Row } from './model'

// All rows have the same height, so that the visible range can be computed.
export const rowHeight = 44

// Sight is the visible part of the list.
export type Sight = { scroller: HTMLElement; body: HTMLElement }

export type Handle = { focus: (id: number) => void; sight: () => Sight }

type Props<T extends Branch> = {
  rows: Row<T>[]
  label: string
  describedBy?: string
  grid?: { head: ReactNode; columns: string } // rows of cells below a header; undefined for a plain tree
  active?: number // the row in the tab order; by default the first
  onActive: (id: number) => void
  fold: (node: T, open: boolean) => void
  onKey: (e: KeyboardEvent, row: Row<T>) => boolean // reports whether the caller handled the key
  line: (row: Row<T>, active: boolean) => ReactNode
  about?: (row: Row<T>) => HTMLAttributes<HTMLElement>
  over?: ReactNode // drawn over the rows
  height: string // maximum
  ref?: Ref<Handle>
}

// Rows is a virtualized tree: only visible rows are rendered. One row is in the tab order,
// arrow keys move from there.
export function Rows<T extends Branch>({ rows, label, describedBy, grid, active, onActive, fold, onKey, line, about, over, height, ref }: Props<T>) {
  const { token } = theme.useToken()
  const scroller = useRef<HTMLDivElement>(null)
  const body = useRef<HTMLDivElement>(null)
  const wanted = useRef<number>(undefined) // the row to focus once it is rendered
  const [sight, setSight] = useState({ from: 0, to: 30 })
  const at = Math.max(
    rows.findIndex((row) => row.node.id === active),
    0,
  )

  const look = useCallback(() => {
    const { scrollTop, clientHeight } = scroller.current!
    // In steps, so that not every pixel renders again.
    const from = Math.floor(scrollTop / rowHeight / 5) * 5 - 10
    setSight((old) =>
      old.from === from && old.to >= from + 25 + clientHeight / rowHeight ? old : { from, to: Math.ceil(from + 25 + clientHeight / rowHeight) },
    )
  }, [])
  useLayoutEffect(() => {
    const watcher = new ResizeObserver(look)
    watcher.observe(scroller.current!)
    return () => watcher.disconnect()
  }, [look])

  useLayoutEffect(() => {
    const [view, head] = [scroller.current!, body.current!.offsetTop]
    const top = at * rowHeight
    if (top < view.scrollTop) view.scrollTop = top
    else if (top + rowHeight > view.scrollTop + view.clientHeight - head) view.scrollTop = top + rowHeight - view.clientHeight + head
  }, [at])

  useLayoutEffect(() => {
    if (wanted.current === undefined) return
    const row = body.current!.querySelector<HTMLElement>(`[data-row="${wanted.current}"]`)
    if (row) {
      row.focus({ preventScroll: true })
      wanted.current = undefined
    }
  })

  const focus = (id: number) => {
    wanted.current = id
    onActive(id)
  }
  useImperativeHandle(ref, () => ({ focus, sight: () => ({ scroller: scroller.current!, body: body.current! }) }))

  function keys(e: KeyboardEvent<HTMLElement>) {
    const id = Number((e.target as HTMLElement).dataset.row)
    const i = rows.findIndex((row) => row.node.id === id)
    const row = rows[i]
    if (!row) return // a key for a control inside the row
    const go = (to: number) => rows[to] && focus(rows[to].node.id)
    if (!onKey(e, row)) {
      if (e.altKey || e.ctrlKey || e.metaKey) return
      const page = Math.max(1, Math.floor(scroller.current!.clientHeight / rowHeight) - 2)
      switch (e.key) {
        case 'ArrowDown':
          go(i + 1)
          break
        case 'ArrowUp':
          go(i - 1)
          break
        case 'PageDown':
          go(Math.min(i + page, rows.length - 1))
          break
        case 'PageUp':
          go(Math.max(i - page, 0))
          break
        case 'Home':
          go(0)
          break
        case 'End':
          go(rows.length - 1)
          break
        case 'ArrowRight':
          if (!row.leaf && !row.open) fold(row.node, true)
          else if (row.open) go(i + 1)
          break
        case 'ArrowLeft':
          if (row.open) fold(row.node, false)
          else if (row.parent) focus(row.parent.id)
          break
        default:
          return
      }
    }
    e.preventDefault()
  }

  const colors = {
    '--line': token.colorBorderSecondary,
    '--ground': token.colorBgContainer,
    '--head': token.colorBgContainer,
    '--hover': token.controlItemBgHover,
    '--focus': token.colorPrimary,
    '--quiet': token.colorTextSecondary,
    '--text': token.colorText,
  } as CSSProperties
  const shown = new Set<number>(rows.length ? [at] : [])
  for (let i = Math.max(sight.from, 0); i < Math.min(sight.to, rows.length); i++) shown.add(i)
  return (
    <div
      ref={scroller}
      className="tree"
      style={{ ...colors, maxHeight: height }}
      onScroll={look}
      onKeyDown={keys}
      role={grid ? 'treegrid' : 'tree'}
      aria-label={label}
      aria-describedby={describedBy}
      aria-rowcount={grid && rows.length + 1}
      onFocus={(e) => {
        const id = Number((e.target as HTMLElement).closest<HTMLElement>('[data-row]')?.dataset.row)
        if (id && id !== active) onActive(id)
      }}
    >
      {grid && (
        <div className="tree-head" role="row" style={{ gridTemplateColumns: grid.columns }}>
          {grid.head}
        </div>
      )}
      <div ref={body} className="tree-body" role={grid ? 'rowgroup' : 'presentation'} style={{ height: rows.length * rowHeight }}>
        {[...shown]
          .sort((a, b) => a - b)
          .map((i) => {
            const row = rows[i]
            return (
              row && (
                <Line
                  key={row.node.id}
                  row={row}
                  index={i}
                  active={i === at}
                  grid={grid?.columns}
                  line={line as (row: Row<Branch>, active: boolean) => ReactNode}
                  about={about as (row: Row<Branch>) => HTMLAttributes<HTMLElement>}
                />
              )
            )
          })}
        {over}
      </div>
    </div>
  )
}

type LineProps = {
  row: Row<Branch>
  index: number
  active: boolean
  grid?: string
  line: (row: Row<Branch>, active: boolean) => ReactNode
  about?: (row: Row<Branch>) => HTMLAttributes<HTMLElement>
}

const Line = memo(function Line({ row, index, active, grid, line, about }: LineProps) {
  const { className, ...more } = about?.(row) ?? {}
  return (
    <div
      className={className ? `tree-row ${className}` : 'tree-row'}
      data-row={row.node.id}
      role={grid ? 'row' : 'treeitem'}
      tabIndex={active ? 0 : -1}
      aria-level={row.level}
      aria-posinset={row.position}
      aria-setsize={row.size}
      aria-expanded={row.leaf ? undefined : row.open}
      aria-rowindex={grid ? index + 2 : undefined}
      style={{ top: index * rowHeight, height: rowHeight, gridTemplateColumns: grid }}
      {...more}
    >
      {line(row, active)}
    </div>
  )
})

// Fold expands and collapses a row by pointer; the keyboard has the arrow keys.
export function Fold<T extends Branch>({ row, name, fold }: { row: Row<T>; name: string; fold: (node: T, open: boolean) => void }) {
  if (row.leaf) return <span className="tree-fold" />
  return (
    <button
      type="button"
      tabIndex={-1}
      className="tree-fold"
      data-open={row.open || undefined}
      aria-label={t(row.open ? 'tree.close' : 'tree.open', { name })}
      onClick={() => fold(row.node, !row.open)}
    >
      <RightOutlined />
    </button>
  )
}

// indent is the indentation of a row, limited to leave room for names in deep trees.
export const indent = (level: number, narrow: boolean): number => Math.min(level - 1, narrow ? 5 : 12) * (narrow ? 12 : 22)
