import { useState } from 'react'
import { useNavigate, useSearchParams } from 'react-router'
import { del, put } from '../../api/request'
import type { File } from '../../api/types'
import { useAccount } from '../../app/account'
import { t } from '../../i18n'
import { activity } from '../../ui/log/address'
import { useAction } from '../../ui/useAction'
import { fetchToDisk } from './content'

const idsOf = (files: readonly File[]) => files.map((file) => file.id).join(',')

// Named isolates a name of any writing direction in a sentence.
export function Named({ name }: { name: string }) {
  return (
    <strong style={{ overflowWrap: 'anywhere' }}>
      <bdi>{name}</bdi>
    </strong>
  )
}

// useActions returns the actions on one or many files. reload refreshes the list.
export function useActions(reload: () => Promise<unknown>) {
  const { may } = useAccount()
  const { confirm, notify } = useAction()
  const [moving, setMoving] = useState<File[]>([])
  const navigate = useNavigate()
  const [params] = useSearchParams()

  async function trash(files: File[]): Promise<boolean> {
    const open = files.some((file) => file.public)
    const text = (
      <>
        {files.length === 1 ? <Named name={files[0]!.name} /> : t('selected', { n: files.length })}
        <div>
          {t('files.trash.text')}
          {open && ` ${t('files.trash.public')}`}
        </div>
      </>
    )
    if (!(await confirm({ title: t('files.trash.title'), text, ok: t('files.trash') }))) return false
    await del('/file/list', { ids: idsOf(files) })
    await reload()
    const undo = async () => {
      try {
        for (const file of files) await put(`/file/trash/${file.id}`)
      } finally {
        await reload()
      }
    }
    notify(t('files.trashed'), may('file.trash.restore') ? undo : undefined)
    return true
  }

  async function moveTo(files: File[], group: number) {
    await put('/file/list', { group_id: group }, { query: { ids: idsOf(files) } })
    await reload()
    notify(t('files.moved'), async () => {
      try {
        for (const before of new Set(files.map((file) => file.group_id))) {
          await put('/file/list', { group_id: before }, { query: { ids: idsOf(files.filter((file) => file.group_id === before)) } })
        }
      } finally {
        await reload()
      }
    })
  }

  async function publish(files: File[], on: boolean) {
    const question = on
      ? {
          title: t('files.publish.title'),
          text: t(files.some((file) => file.keeps_metadata) ? 'files.publish.metadata' : 'files.publish.text'),
          ok: t('files.publish'),
          harmless: true,
        }
      : { title: t('files.unpublish.title'), text: t('files.unpublish.text'), ok: t('files.unpublish') }
    if (!(await confirm(question))) return
    await put('/file/list', { public: on }, { query: { ids: idsOf(files) } })
    await reload()
  }

  return {
    trash,
    moveTo,
    publish,
    moving,
    move: setMoving,
    download: fetchToDisk,
    activity: (file: File) => void navigate(activity({ collection: 'file', record: file.id })),
    details: (file: File) => void navigate(`/file/list/${file.id}?${params}`),
  }
}

export type Actions = ReturnType<typeof useActions>
