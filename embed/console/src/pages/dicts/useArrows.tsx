import { ArrowDownOutlined, ArrowUpOutlined } from '@ant-design/icons'
import { Button, Flex } from 'antd'
import { useEffect, useMemo, useRef } from 'react'
import type { DictItem } from '../../api/types'
import { t } from '../../i18n'
import type { useItems } from './useItems'

// useArrows returns the buttons that move an item. The pressed one keeps the focus when
// its item moves, so that it can be pressed again.
export function useArrows(items: ReturnType<typeof useItems>, onPlaced: (at: number) => void) {
  const refs = useRef<HTMLDivElement>(null)
  const pressed = useRef<string>(undefined)
  useEffect(() => {
    if (!pressed.current) return
    refs.current?.querySelector<HTMLElement>(`[data-move="${pressed.current}"]`)?.focus()
    pressed.current = undefined
  })
  const places = useMemo(() => new Map(items.rows?.map((item, at) => [item.id, at])), [items.rows])
  const arrow = (item: DictItem, by: 1 | -1) => {
    const to = (places.get(item.id) ?? 0) + by
    const name = `${item.id} ${by}`
    return (
      <Button
        type="text"
        size="small"
        data-move={name}
        icon={by < 0 ? <ArrowUpOutlined /> : <ArrowDownOutlined />}
        aria-disabled={to < 0 || to >= places.size}
        style={to < 0 || to >= places.size ? { opacity: 0.3 } : undefined}
        aria-label={t(by < 0 ? 'dicts.up' : 'dicts.down', { name: item.label })}
        onClick={() => {
          if (to < 0 || to >= places.size) return
          pressed.current = name
          onPlaced(to)
          void items.place(item, to)
        }}
      />
    )
  }
  return {
    refs,
    arrows: (item: DictItem) => (
      <Flex>
        {arrow(item, -1)}
        {arrow(item, 1)}
      </Flex>
    ),
  }
}
