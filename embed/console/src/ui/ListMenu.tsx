import { ArrowDownOutlined, ArrowUpOutlined, DownloadOutlined } from '@ant-design/icons'
import { Button, Checkbox, Divider, Flex, Grid, Segmented, type TableProps, theme, Typography } from 'antd'
import { isValidElement, type ReactNode, useEffect, useId, useLayoutEffect, useRef, useState } from 'react'
import { Failure, type Query } from '../api/request'
import { useAccount } from '../app/account'
import { t } from '../i18n'
import { exportList, type Format, mayExport } from './export'
import { count } from './format'
import { keyOf, type Layout, name, ordered, stored } from './layout'
import { useWider } from './useWider'

// biome-ignore lint/suspicious/noExplicitAny: the menu doesn't read the records
type Columns = NonNullable<TableProps<any>['columns']>

type Set = (values: Record<string, string | string[] | undefined>) => void

export type Props = {
  list: { path: string; layout: Layout; setLayout: (layout: Layout) => void; fixed: Query; search: string; total: number; set: Set }
  columns: Columns // all that the user may see
  at: HTMLElement // the button that opened it
  onClose: () => void
}

const room = 8 // pixels between the menu and the edges of the window
const formats: Format[] = ['csv', 'xlsx']

// keep stores the layout of the list of a path; none deletes it.
function keep(path: string, layout?: Layout): void {
  try {
    localStorage.setItem(name, JSON.stringify({ ...stored(), [path]: layout }))
  } catch {
    localStorage.removeItem(name) // it is full, or not readable
  }
}

// ListMenu chooses the columns of a list, their order, and its density.
export function ListMenu({ list, columns, at, onClose }: Props) {
  const { token } = theme.useToken()
  const id = useId()
  const box = useRef<HTMLDivElement>(null)
  const pressed = useRef<{ key: string; way: 1 | -1 }>(undefined)
  const { may } = useAccount()
  const [moved, setMoved] = useState('')
  const [busy, setBusy] = useState<Format>()
  const place = usePlace(at, box)
  useLeave(at, box, onClose)

  const screens = Grid.useBreakpoint()
  const table = useWider('sm')
  const { layout } = list
  const [first, ...others] = ordered(columns, layout).filter((column) => keyOf(column) !== 'actions')
  const keys = others.map(keyOf)
  const isShown = (column: Columns[number]) =>
    layout.shown?.[keyOf(column)] ?? (!column.responsive || (table && column.responsive.some((width) => screens[width])))

  const set = (to?: Layout) => {
    keep(list.path, to)
    list.setLayout(to ?? {})
  }

  const move = (key: string, way: 1 | -1) => {
    const from = keys.indexOf(key)
    const order = keys.toSpliced(from, 1).toSpliced(from + way, 0, key)
    pressed.current = { key, way }
    setMoved(t('list.moved', { name: textOf(others[from]?.title as ReactNode), n: from + way + 2, of: keys.length + 1 }))
    set({ ...layout, order })
  }

  const exportAll = async (format: Format) => {
    setBusy(format)
    try {
      const shown = first ? [first, ...others.filter(isShown)] : []
      await exportList(list.path, format, shown.map(keyOf), list.fixed, list.search)
    } catch (cause) {
      if (!(cause instanceof Failure)) throw cause // already shown
    } finally {
      setBusy(undefined)
    }
  }

  // A moved row loses the focus. At an end of the list, the other button of the row gets it.
  useLayoutEffect(() => {
    if (!pressed.current) return
    const { key, way } = pressed.current
    const buttons = [...(box.current?.querySelectorAll<HTMLButtonElement>(`[data-column="${CSS.escape(key)}"] button`) ?? [])]
    pressed.current = undefined
    ;[buttons[way < 0 ? 0 : 1], ...buttons].find((button) => button && !button.disabled)?.focus()
  })

  return (
    <div
      ref={box}
      popover="manual"
      role="dialog"
      aria-label={t('list.menu')}
      style={{
        position: 'fixed',
        margin: 0,
        right: 'auto',
        bottom: 'auto',
        ...place,
        width: 300,
        maxWidth: `calc(100vw - ${2 * room}px)`,
        boxSizing: 'border-box',
        padding: 12,
        overflow: 'auto',
        border: `1px solid ${token.colorBorderSecondary}`,
        borderRadius: token.borderRadiusLG,
        boxShadow: token.boxShadowSecondary,
        background: token.colorBgElevated,
        color: token.colorText,
      }}
    >
      <Typography.Text strong id={id}>
        {t('list.columns')}
      </Typography.Text>
      <ul aria-labelledby={id} style={{ listStyle: 'none', margin: '4px 0 0', padding: 0 }}>
        {first && (
          <li style={{ minHeight: token.controlHeight, display: 'flex', alignItems: 'center' }}>
            <Checkbox checked disabled>
              {textOf(first.title as ReactNode)}
            </Checkbox>
          </li>
        )}
        {others.map((column, i) => {
          const key = keyOf(column)
          const name = textOf(column.title as ReactNode)
          return (
            <li key={key} data-column={key}>
              <Flex align="center" gap={4}>
                <Checkbox
                  style={{ flex: 1, minWidth: 0, overflowWrap: 'anywhere' }}
                  checked={isShown(column)}
                  onChange={(e) => set({ ...layout, shown: { ...layout.shown, [key]: e.target.checked } })}
                >
                  <bdi>{name}</bdi>
                </Checkbox>
                <Button type="text" icon={<ArrowUpOutlined />} aria-label={`${t('list.up')}: ${name}`} disabled={i === 0} onClick={() => move(key, -1)} />
                <Button
                  type="text"
                  icon={<ArrowDownOutlined />}
                  aria-label={`${t('list.down')}: ${name}`}
                  disabled={i === others.length - 1}
                  onClick={() => move(key, 1)}
                />
              </Flex>
            </li>
          )
        })}
      </ul>
      <span role="status" className="visually-hidden">
        {moved}
      </span>
      <Divider style={{ margin: '8px 0' }} />
      <Flex gap={8} align="center" justify="space-between" wrap>
        <Segmented
          aria-label={t('list.density')}
          value={layout.compact ? 'small' : 'middle'}
          onChange={(to) => set({ ...layout, compact: to === 'small' })}
          options={[
            { value: 'middle', label: t('list.comfortable') },
            { value: 'small', label: t('list.compact') },
          ]}
        />
        <Button type="text" onClick={() => set()}>
          {t('list.reset')}
        </Button>
      </Flex>
      {mayExport(list.path, may) && (
        <>
          <Divider style={{ margin: '8px 0' }} />
          <div title={t('list.download.hint')}>{t('list.download', { n: count(list.total) })}</div>
          <Flex gap={8} style={{ marginTop: 8 }}>
            {formats.map((format) => (
              <Button
                key={format}
                style={{ flex: 1 }}
                icon={<DownloadOutlined />}
                loading={busy === format}
                disabled={list.total === 0 || !!busy}
                aria-label={t('list.download.as', { format: format.toUpperCase() })}
                onClick={() => void exportAll(format)}
              >
                {format.toUpperCase()}
              </Button>
            ))}
          </Flex>
        </>
      )}
    </div>
  )
}

// textOf returns the text of a title.
function textOf(title: ReactNode): string {
  if (Array.isArray(title)) return title.map(textOf).join('')
  if (isValidElement<{ children?: ReactNode }>(title)) return textOf(title.props.children)
  return typeof title === 'string' || typeof title === 'number' ? String(title) : ''
}

// usePlace opens the menu below its button, and follows it.
function usePlace(at: HTMLElement, box: { current: HTMLElement | null }) {
  const [place, setPlace] = useState<{ top: number; left: number; maxHeight: number }>()
  useLayoutEffect(() => {
    const menu = box.current
    if (!menu) return
    menu.showPopover()
    const measure = () => {
      const { bottom, right } = at.getBoundingClientRect()
      const top = Math.max(room, Math.min(bottom + 4, innerHeight - 240))
      setPlace({
        top,
        left: Math.max(room, Math.min(right, document.documentElement.clientWidth - room) - menu.offsetWidth),
        maxHeight: innerHeight - top - room,
      })
    }
    measure()
    menu.querySelector<HTMLElement>('input:enabled, button:enabled')?.focus()
    const look = new ResizeObserver(measure)
    look.observe(menu)
    addEventListener('resize', measure)
    addEventListener('scroll', measure, true)
    return () => {
      look.disconnect()
      removeEventListener('resize', measure)
      removeEventListener('scroll', measure, true)
    }
  }, [at, box])
  return place
}

// useLeave closes the menu with Escape, with a click elsewhere, and when the focus leaves it.
function useLeave(at: HTMLElement, box: { current: HTMLElement | null }, onClose: () => void) {
  useEffect(() => {
    const outside = (target: EventTarget | null) => target instanceof Node && !box.current?.contains(target) && !at.contains(target)
    const leave = (e: Event) => outside(e.target) && onClose()
    const cancel = (e: KeyboardEvent) => {
      if (e.key !== 'Escape') return
      e.stopPropagation()
      at.focus()
      onClose()
    }
    document.addEventListener('pointerdown', leave)
    document.addEventListener('focusin', leave)
    document.addEventListener('keydown', cancel, true)
    return () => {
      document.removeEventListener('pointerdown', leave)
      document.removeEventListener('focusin', leave)
      document.removeEventListener('keydown', cancel, true)
    }
  }, [at, box, onClose])
}
