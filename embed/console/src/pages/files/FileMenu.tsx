import { MoreOutlined } from '@ant-design/icons'
import { Button, Dropdown, type MenuProps } from 'antd'
import type { File } from '../../api/types'
import { useAccount } from '../../app/account'
import { t } from '../../i18n'
import type { Actions } from './useActions'

// FileMenu is what can be done with one file.
export function FileMenu({ file, actions }: { file: File; actions: Actions }) {
  const { may } = useAccount()
  const items: MenuProps['items'] = [
    { key: 'details', label: t('files.details'), onClick: () => actions.details(file) },
    may('file.list.download') && { key: 'download', label: t('files.download'), onClick: () => void actions.download([file]) },
    may('file.list.update') && { key: 'move', label: t('files.move'), onClick: () => actions.move([file]) },
    may('file.list.delete') && { key: 'delete', label: t('delete'), danger: true, onClick: () => void actions.trash([file]) },
  ].filter((item) => item !== false)
  return (
    <Dropdown menu={{ items }} trigger={['click']} placement="bottomRight">
      <Button type="text" size="small" icon={<MoreOutlined />} aria-label={t('files.more', { name: file.name })} />
    </Dropdown>
  )
}
