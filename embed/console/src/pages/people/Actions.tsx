import { EditOutlined, MoreOutlined } from '@ant-design/icons'
import { Button, Dropdown } from 'antd'
import { t } from '../../i18n'

type Action = { label: string; danger?: boolean; onClick: () => void }

type Props = {
  name: string
  edit?: () => void
  more: (Action | false)[] // false for what is not permitted
}

// Actions are what can be done with a person.
export function Actions({ name, edit, more }: Props) {
  const items = more.filter((action) => action !== false).map((action, key) => ({ key, ...action }))
  return (
    <>
      {edit && <Button type="text" icon={<EditOutlined />} aria-label={t('people.edit_name', { name })} title={t('edit')} onClick={edit} />}
      {items.length > 0 && (
        <Dropdown menu={{ items }} trigger={['click']} placement="bottomRight">
          <Button type="text" icon={<MoreOutlined />} aria-label={t('people.more_name', { name })} title={t('more')} />
        </Dropdown>
      )}
    </>
  )
}
