import { Typography } from 'antd'
import type { ReactNode } from 'react'
import type { File } from '../../api/types'
import { t } from '../../i18n'
import { bytes } from '../../ui/format'
import { textBytes } from './content'

// Text is a text, of which only the beginning may be shown.
export function Text({ file, text }: { file: File; text: string }) {
  return (
    <Part file={file}>
      <pre tabIndex={0} dir="auto" aria-label={file.name}>
        {text}
      </pre>
    </Part>
  )
}

// Part says so if only the beginning of a text is shown.
export function Part({ file, children }: { file: File; children: ReactNode }) {
  return (
    <>
      {file.size > textBytes && (
        <Typography.Paragraph type="secondary">{t('files.text.part', { part: bytes(textBytes), size: bytes(file.size) })}</Typography.Paragraph>
      )}
      <div className="preview-stage">{children}</div>
    </>
  )
}
