import { Button, Dropdown, Flex, Typography } from 'antd'
import type { File } from '../../api/types'
import { useAccount } from '../../app/account'
import { t } from '../../i18n'
import type { Actions } from './useActions'
import type { useSelection } from './useSelection'

// BatchBar contains the actions on the selected files.
export function BatchBar({ chosen, actions }: { chosen: ReturnType<typeof useSelection<File>>; actions: Actions }) {
  const { may } = useAccount()
  const files = chosen.rows
  if (files.length === 0) return null
  return (
    <Flex className="list-batch" gap={8} wrap align="center" role="toolbar" aria-label={t('selected', { n: files.length })}>
      <Typography.Text strong>{t('selected', { n: files.length })}</Typography.Text>
      {files.length < chosen.of && (
        <Button type="link" size="small" onClick={chosen.all}>
          {t('files.choose_all')}
        </Button>
      )}
      <Button type="link" size="small" onClick={chosen.clear}>
        {t('files.choose_none')}
      </Button>
      {may('file.list.update') && <Button onClick={() => actions.move(files)}>{t('files.move')}</Button>}
      {may('file.list.update') && (
        <Dropdown
          trigger={['click']}
          menu={{
            items: [
              { key: 'public', label: t('files.publish'), onClick: () => void actions.publish(files, true) },
              { key: 'private', label: t('files.unpublish'), onClick: () => void actions.publish(files, false) },
            ],
          }}
        >
          <Button>{t('files.access')}</Button>
        </Dropdown>
      )}
      {may('file.list.download') && <Button onClick={() => void actions.download(files)}>{t('files.download')}</Button>}
      {may('file.list.delete') && <Button onClick={() => void actions.trash(files)}>{t('delete')}</Button>}
    </Flex>
  )
}
