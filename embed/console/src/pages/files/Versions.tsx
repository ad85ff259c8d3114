import { UploadOutlined } from '@ant-design/icons'
import { Button, Typography } from 'antd'
import { useEffect, useRef } from 'react'
import { del, put } from '../../api/request'
import type { File } from '../../api/types'
import { useAccount } from '../../app/account'
import { t } from '../../i18n'
import { Actions } from '../../ui/Actions'
import { dock } from '../../ui/dock'
import { bytes } from '../../ui/format'
import { PersonLink } from '../../ui/PersonLink'
import { Time } from '../../ui/Time'
import { useAction } from '../../ui/useAction'
import { useGet } from '../../ui/useGet'
import { saveVersion } from './content'
import { UploadPanel } from './UploadPanel'
import { addVersion, useUploads } from './uploads'

// Versions lists the earlier versions of a file, and takes a new one.
export function Versions({ file, changed }: { file: File; changed: () => Promise<unknown> }) {
  const { may } = useAccount()
  const { confirm, notify } = useAction()
  const { data, reload } = useGet(`/file/list/${file.id}/version`, { pageSize: 50 })
  const input = useRef<HTMLInputElement>(null)
  const versions = data?.data ?? []
  const stored = useUploads().filter((upload) => upload.into === file.id && upload.state === 'stored').length
  // biome-ignore lint/correctness/useExhaustiveDependencies: only when another upload has ended
  useEffect(() => {
    if (stored) void changed()
  }, [stored])

  async function restore(id: number) {
    await put(`/file/list/${file.id}/version/${id}`)
    await changed()
    notify(t('files.version.restored'))
  }

  async function remove(id: number) {
    if (!(await confirm({ title: t('trash.remove.title'), text: t('files.version.remove.text'), ok: t('trash.remove') }))) return
    await del(`/file/list/${file.id}/version/${id}`)
    await reload()
    notify(t('trash.removed'))
  }

  return (
    <section aria-label={t('files.versions')}>
      <Typography.Paragraph strong style={{ marginBottom: 4 }}>
        {t('files.versions')}
      </Typography.Paragraph>
      {versions.length === 0 && (
        <Typography.Paragraph type="secondary" style={{ marginBottom: 8 }}>
          {t('files.versions.none')}
        </Typography.Paragraph>
      )}
      <ul className="file-versions">
        {versions.map((version) => (
          <li key={version.id}>
            <span>
              <Time at={version.stored_at} />
              <span className="secondary">
                {bytes(version.size)} · {version.author_name ? <PersonLink name={version.author_name} id={version.author_id} /> : t('files.version.unknown')}
              </span>
            </span>
            <Actions
              label={t('files.version.more', { size: bytes(version.size) })}
              more={[
                may('file.list.download') && { label: t('files.download'), onClick: () => void saveVersion(file, version.id) },
                may('file.list.update') && { label: t('trash.restore'), onClick: () => void restore(version.id) },
                may('file.trash.delete') && { label: t('trash.remove'), danger: true, onClick: () => void remove(version.id) },
              ]}
            />
          </li>
        ))}
      </ul>
      {may('file.list.update') && (
        <>
          <input
            ref={input}
            type="file"
            hidden
            aria-label={t('files.version.upload')}
            onChange={(e) => {
              const picked = e.target.files?.[0]
              if (picked) {
                dock(<UploadPanel />)
                addVersion(picked, file.id)
              }
              e.target.value = '' // lets the same file be selected again
            }}
          />
          <Button icon={<UploadOutlined />} onClick={() => input.current?.click()}>
            {t('files.version.upload')}
          </Button>
        </>
      )}
    </section>
  )
}
