import { DownloadOutlined, InfoCircleOutlined, LeftOutlined, RightOutlined } from '@ant-design/icons'
import { Button, Modal } from 'antd'
import { useEffect } from 'react'
import type { File } from '../../api/types'
import { useAccount } from '../../app/account'
import { t } from '../../i18n'
import { bytes } from '../../ui/format'
import { Content } from './PreviewContent'
import type { Actions } from './useActions'

type Props = {
  files: readonly File[] // that can be paged through
  file: File | undefined
  onOpen: (id: number) => void
  onClose: () => void
  actions: Actions
}

// Preview shows a file; arrow keys show the next and previous one.
export function Preview({ files, file, onOpen, onClose, actions }: Props) {
  const { may } = useAccount()
  const at = files.findIndex((one) => one.id === file?.id)
  const [before, after] = [files[at - 1], files[at + 1]]

  useEffect(() => {
    if (!file) return
    function onKey(e: KeyboardEvent) {
      if (e.target instanceof HTMLMediaElement) return // players seek with the same keys
      const to = e.key === 'ArrowLeft' ? before : e.key === 'ArrowRight' ? after : undefined
      if (to) onOpen(to.id)
    }
    document.addEventListener('keydown', onKey)
    return () => document.removeEventListener('keydown', onKey)
  }, [file, before, after, onOpen])

  return (
    <Modal
      title={
        <span style={{ display: 'block', overflow: 'hidden', textOverflow: 'ellipsis', whiteSpace: 'nowrap', paddingInlineEnd: 24 }} title={file?.name}>
          <bdi>{file?.name}</bdi>
        </span>
      }
      open={file !== undefined}
      onCancel={onClose}
      width="min(1200px, calc(100vw - 32px))"
      centered
      destroyOnHidden
      footer={
        file && (
          <div className="preview-bar">
            <span>
              {t('files.place', { at: at + 1, n: files.length })} · {bytes(file.size)}
            </span>
            <Button
              icon={<LeftOutlined />}
              aria-label={t('files.before')}
              title={t('files.before')}
              disabled={!before}
              onClick={() => before && onOpen(before.id)}
            />
            <Button
              icon={<RightOutlined />}
              aria-label={t('files.after')}
              title={t('files.after')}
              disabled={!after}
              onClick={() => after && onOpen(after.id)}
            />
            <Button
              icon={<InfoCircleOutlined />}
              onClick={() => {
                onClose()
                actions.details(file)
              }}
            >
              {t('files.details')}
            </Button>
            {may('file.list.download') && (
              <Button icon={<DownloadOutlined />} onClick={() => void actions.download([file])}>
                {t('files.download')}
              </Button>
            )}
          </div>
        )
      }
    >
      {file && <Content key={`${file.id} ${file.sha256}`} file={file} />}
    </Modal>
  )
}
