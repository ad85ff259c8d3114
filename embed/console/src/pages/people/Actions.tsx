import { EditOutlined, MoreOutlined } from '@ant-design/icons'
import { Button, Dropdown } from 'antd'
import { useRef } from 'react'
import { t } from '../../i18n'

type Action = { label: string; danger?: boolean; onClick: () => void }

type Props = {
  name: string
  edit?: () => void
  more: (Action | false)[] // false for what is not permitted
}

// Actions are what can be done with a person. What opens from the menu gives the
// focus back to its button, for the menu is gone by then.
export function Actions({ name, edit, more }: Props) {
  const button = useRef<HTMLButtonElement>(null)
  const items = more.filter((action) => action !== false).map(({ onClick, ...action }, key) => ({
    ...action, key, onClick: () => { button.current?.focus(); onClick() },
  }))
  return (
    <>
      {edit && <Button type="text" icon={<EditOutlined />} aria-label={t('people.edit_name', { name })} title={t('edit')} onClick={edit} />}
      {items.length > 0 && (
        <Dropdown menu={{ items }} trigger={['click']} placement="bottomRight">
          <Button ref={button} type="text" icon={<MoreOutlined />} aria-label={t('people.more_name', { name })} title={t('more')} />
        </Dropdown>
      )}
    </>
  )
}
