import { MoreOutlined } from '@ant-design/icons'
import { Button, Dropdown, Flex, type TableColumnType } from 'antd'
import { type ReactNode, useLayoutEffect, useRef, useState } from 'react'
import { singleKeys } from '../app/keys'
import { t } from '../i18n'
import { edits } from './edits'

// Action is an action on a record. In the menu, one with a reason is disabled and shows it.
export type Action = { label: string; danger?: boolean; why?: string; onClick: () => void }

type Props = {
  first?: Action | false // the most common action; false without permission
  called?: string // accessible name of the first, if its label is ambiguous
  more?: (Action | false)[]
  label?: string // of the menu
}

// Actions are the actions on a record of a list: the first as a button, the others in a
// menu.
export function Actions({ first, called, more = [], label }: Props) {
  const others = more.filter((action) => action !== false)
  const edit = [first, ...others].find((action) => action && action.label === t('edit'))
  const hint = edit && first === edit && singleKeys() ? { 'aria-keyshortcuts': 'e', title: `${edit.label} (e)` } : {}
  return (
    <Flex
      gap={4}
      justify="end"
      data-actions
      ref={(box: HTMLElement | null) => {
        if (box && edit) edits.set(box, edit.onClick)
        else if (box) edits.delete(box)
      }}
    >
      {first && (
        <Button size="small" aria-label={called} onClick={first.onClick} {...hint}>
          {first.label}
        </Button>
      )}
      {others.length > 0 && <More actions={others} label={label} />}
    </Flex>
  )
}

// actionsColumn is the last column of a list, with the Actions on each record.
export const actionsColumn = <T,>(render: (record: T) => ReactNode, width?: number): TableColumnType<T> => ({
  title: t('actions'),
  key: 'actions',
  align: 'end',
  fixed: 'end',
  width,
  render: (_, record) => render(record),
})

// More is a menu button that creates its menu on the first press, since most rows' menus
// are never opened. Whatever opens from the menu returns the focus to the button, because
// the menu is gone by then.
function More({ actions, label }: { actions: Action[]; label?: string }) {
  const [open, setOpen] = useState<boolean>()
  const button = useRef<HTMLButtonElement>(null)
  const pressed = open !== undefined
  useLayoutEffect(() => {
    if (pressed) button.current?.focus()
  }, [pressed]) // the menu replaced it

  const shown = (
    <Button
      ref={button}
      type="text"
      size="small"
      icon={<MoreOutlined />}
      aria-label={label}
      title={t('more')}
      onClick={pressed ? undefined : () => setOpen(true)}
    />
  )
  if (!pressed) return shown
  const items = actions.map(({ onClick, why, ...action }, key) => ({
    ...action,
    key,
    ...(why && { label: [action.label, <div key={0} className="second" children={why} />], disabled: true, tabIndex: -1 }), // arrow keys reach the reason
    extra: action.label === t('edit') && singleKeys() ? <span aria-hidden>e</span> : undefined,
    onClick: () => {
      button.current?.focus()
      if (!why) onClick()
    },
  }))
  return (
    <Dropdown open={open} onOpenChange={setOpen} menu={{ items }} trigger={['click']} placement="bottomRight">
      {shown}
    </Dropdown>
  )
}
