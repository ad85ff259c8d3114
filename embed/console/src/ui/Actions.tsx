import { MoreOutlined } from '@ant-design/icons'
import { Button, Dropdown, Flex } from 'antd'
import { useRef } from 'react'
import { t } from '../i18n'

type Action = { label: string; danger?: boolean; onClick: () => void }

type Props = {
  first?: Action | false // what is done most; false for what is not permitted
  called?: string // what the first is called, where its label says too little
  more?: (Action | false)[]
  label?: string // of the menu
}

// Actions are what can be done with one record of a list: the first as a button, the
// others in a menu. What opens from the menu gives the focus back to its button, for
// the menu is gone by then.
export function Actions({ first, called, more = [], label }: Props) {
  const button = useRef<HTMLButtonElement>(null)
  const items = more.filter((action) => action !== false).map(({ onClick, ...action }, key) => ({
    ...action, key, onClick: () => { button.current?.focus(); onClick() },
  }))
  return (
    <Flex gap={4} justify="end">
      {first && <Button size="small" aria-label={called} onClick={first.onClick}>{first.label}</Button>}
      {items.length > 0 && (
        <Dropdown menu={{ items }} trigger={['click']} placement="bottomRight">
          <Button ref={button} type="text" size="small" icon={<MoreOutlined />} aria-label={label} title={t('more')} />
        </Dropdown>
      )}
    </Flex>
  )
}
