import { GlobalOutlined } from '@ant-design/icons'
import { Checkbox } from 'antd'
import type { MouseEvent } from 'react'
import type { File } from '../../api/types'
import { t } from '../../i18n'
import { bytes } from '../../ui/format'
import { FileMenu } from './FileMenu'
import { Thumb } from './Thumb'
import type { Actions } from './useActions'
import type { useChosen } from './useChosen'

type Props = {
  files: readonly File[]
  chosen: ReturnType<typeof useChosen<File>>
  open: (file: File) => void
  actions: Actions
  selectable: boolean
}

// FileGrid shows files by their pictures. With Ctrl or Shift a click chooses a file
// instead of opening it.
export function FileGrid({ files, chosen, open, actions, selectable }: Props) {
  function click(e: MouseEvent, file: File) {
    if (selectable && (e.shiftKey || e.ctrlKey || e.metaKey)) chosen.toggle(file.id, e.shiftKey)
    else open(file)
  }
  return (
    <ul className={chosen.rows.length ? 'file-grid choosing' : 'file-grid'} aria-label={t('menu.file.list')}>
      {files.map((file) => (
        <li key={file.id} className={chosen.has(file.id) ? 'file-card chosen' : 'file-card'}>
          <button type="button" title={file.name} onClick={(e) => click(e, file)}>
            <Thumb file={file} size="400x400" />
            <span className="file-card-name"><bdi>{file.name}</bdi></span>
          </button>
          {selectable && (
            <Checkbox
              className="file-card-check" aria-label={t('files.choose', { name: file.name })} checked={chosen.has(file.id)}
              onChange={(e) => chosen.toggle(file.id, e.nativeEvent instanceof globalThis.MouseEvent && e.nativeEvent.shiftKey)}
            />
          )}
          <div className="file-card-foot">
            <span>{bytes(file.size)}{file.public === 1 && <> · <GlobalOutlined /> {t('files.public')}</>}</span>
            <FileMenu file={file} actions={actions} />
          </div>
        </li>
      ))}
    </ul>
  )
}
