import type { File } from '../../api/types'
import { useAccount } from '../../app/account'
import { t } from '../../i18n'
import { Actions } from '../../ui/Actions'
import type { Actions as Acts } from './useActions'

// FileMenu contains the actions on one file. actions is called when one is used.
export function FileMenu({ file, actions }: { file: File; actions: () => Acts }) {
  const { may } = useAccount()
  return (
    <Actions
      label={t('files.more', { name: file.name })}
      more={[
        { label: t('files.details'), onClick: () => actions().details(file) },
        may('file.list.download') && { label: t('files.download'), onClick: () => void actions().download([file]) },
        may('system.audit.query') && { label: t('menu.system.audit'), onClick: () => actions().activity(file) },
        may('file.list.update') && { label: t('files.move'), onClick: () => actions().move([file]) },
        may('file.list.delete') && { label: t('delete'), danger: true, onClick: () => void actions().trash([file]) },
      ]}
    />
  )
}
