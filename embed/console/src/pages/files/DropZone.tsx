import { InboxOutlined } from '@ant-design/icons'
import { useEffect, useState } from 'react'
import { t } from '../../i18n'
import { useAction } from '../../ui/useAction'

const hasFiles = (e: DragEvent) => e.dataTransfer?.types.includes('Files') ?? false

// filesOf returns the dropped or pasted files. A folder appears as a file that can't be
// read.
function filesOf(data: DataTransfer): { files: File[]; folders: boolean } {
  const items = [...data.items].filter((item) => item.kind === 'file')
  const folders = items.filter((item) => item.webkitGetAsEntry()?.isDirectory)
  return { files: items.filter((item) => !folders.includes(item)).flatMap((item) => item.getAsFile() ?? []), folders: folders.length > 0 }
}

// DropZone accepts files dropped anywhere on the page, or pasted.
export function DropZone({ text, onFiles }: { text: string; onFiles: (files: File[]) => void }) {
  const [over, setOver] = useState(false)
  const { confirm } = useAction()
  useEffect(() => {
    let depth = 0 // dragenter and dragleave fire for every element on the way
    function take(data: DataTransfer) {
      const { files, folders } = filesOf(data)
      if (files.length) onFiles(files)
      if (folders) void confirm({ title: t('files.folders'), text: t('files.folders.text'), ok: t('close'), harmless: true })
    }
    const on = {
      dragenter: (e: DragEvent) => {
        if (hasFiles(e)) setOver(++depth > 0)
      },
      dragleave: (e: DragEvent) => {
        if (hasFiles(e)) setOver(--depth > 0)
      },
      dragover: (e: DragEvent) => {
        if (hasFiles(e)) e.preventDefault()
      },
      drop: (e: DragEvent) => {
        depth = 0
        setOver(false)
        if (!hasFiles(e) || !e.dataTransfer) return
        e.preventDefault()
        take(e.dataTransfer)
      },
      paste: (e: ClipboardEvent) => {
        if (!e.clipboardData?.files.length) return
        e.preventDefault()
        take(e.clipboardData)
      },
    }
    for (const [name, listener] of Object.entries(on)) addEventListener(name, listener as EventListener)
    return () => {
      for (const [name, listener] of Object.entries(on)) removeEventListener(name, listener as EventListener)
    }
  })
  return (
    over && (
      <div className="file-drop">
        <div>
          <InboxOutlined />
          {text}
        </div>
      </div>
    )
  )
}
