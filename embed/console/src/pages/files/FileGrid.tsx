import { GlobalOutlined } from '@ant-design/icons'
import { Checkbox } from 'antd'
import { memo, type MouseEvent, type RefObject } from 'react'
import type { File } from '../../api/types'
import { t } from '../../i18n'
import { bytes } from '../../ui/format'
import { FileMenu } from './FileMenu'
import { Thumb } from './Thumb'
import type { Actions } from './useActions'
import type { useSelection } from './useSelection'
import { useLatest } from '../../ui/useLatest'

type Props = {
  files: readonly File[]
  chosen: ReturnType<typeof useSelection<File>>
  open: (file: File) => void
  actions: Actions
  selectable: boolean
}

// FileGrid shows files as thumbnails. A click with Ctrl or Shift selects a file instead of
// opening it.
export function FileGrid(props: Props) {
  const now = useLatest(props)
  const { files, chosen, selectable } = props
  return (
    <ul className={chosen.rows.length ? 'file-grid choosing' : 'file-grid'} aria-label={t('menu.file.list')}>
      {files.map((file) => (
        <Card key={file.id} file={file} chosen={chosen.has(file.id)} selectable={selectable} now={now} />
      ))}
    </ul>
  )
}

type CardProps = { file: File; chosen: boolean; selectable: boolean; now: RefObject<Props> }

// same reports whether two cards look the same. During uploads the list reloads often, and
// unchanged cards are not rendered again.
const same = (a: CardProps, b: CardProps) =>
  a.chosen === b.chosen && a.selectable === b.selectable && a.file.id === b.file.id && a.file.version === b.file.version

const Card = memo(function Card({ file, chosen, selectable, now }: CardProps) {
  function click(e: MouseEvent) {
    const { chosen, open } = now.current
    if (selectable && (e.shiftKey || e.ctrlKey || e.metaKey)) chosen.toggle(file.id, e.shiftKey)
    else open(file)
  }
  return (
    <li className={chosen ? 'file-card chosen' : 'file-card'}>
      <button type="button" title={file.name} onClick={click}>
        <Thumb file={file} size="400x400" />
        <span className="file-card-name">
          <bdi>{file.name}</bdi>
        </span>
      </button>
      {selectable && (
        <Checkbox
          className="file-card-check"
          aria-label={t('files.choose', { name: file.name })}
          checked={chosen}
          onChange={(e) => now.current.chosen.toggle(file.id, e.nativeEvent instanceof globalThis.MouseEvent && e.nativeEvent.shiftKey)}
        />
      )}
      <div className="file-card-foot">
        <span>
          {bytes(file.size)}
          {file.public === 1 && (
            <>
              {' '}
              · <GlobalOutlined /> {t('files.public')}
            </>
          )}
        </span>
        <FileMenu file={file} actions={() => now.current.actions} />
      </div>
    </li>
  )
}, same)
