import { Button } from 'antd'
import { del, put } from '../../api/request'
import type { TrashedFile } from '../../api/types'
import { useAccount } from '../../app/account'
import { t } from '../../i18n'
import { Actions, actionsColumn } from '../../ui/Actions'
import { bytes, count } from '../../ui/format'
import { List } from '../../ui/List'
import { PersonLink } from '../../ui/PersonLink'
import { Time } from '../../ui/Time'
import { useAction } from '../../ui/useAction'
import { useGet } from '../../ui/useGet'
import { useTable } from '../../ui/useTable'
import { FileIcon } from './Thumb'
import { Named } from './useActions'

// Trash lists deleted files that can be restored.
export function Trash() {
  const { may } = useAccount()
  const { confirm, notify } = useAction()
  const list = useTable<TrashedFile>('/file/trash')
  const settings = useGet(may('system.setting.query') ? '/system/setting-value' : '')
  const days = Number(settings.data?.file?.trash_days ?? 0)

  async function restore(files: TrashedFile[]) {
    try {
      for (const file of files) await put(`/file/trash/${file.id}`)
    } finally {
      await list.reload()
    }
    const undo = () => del('/file/list', { ids: files.map((file) => file.id).join(',') }).then(() => list.reload())
    notify(t('trash.restored'), may('file.list.delete') ? undo : undefined)
  }

  async function remove(files: TrashedFile[]) {
    const size = bytes(files.reduce((sum, file) => sum + file.size, 0))
    const text = (
      <>
        {files.length === 1 ? <Named name={files[0]!.name} /> : t('selected', { n: files.length })}
        <div>{t('trash.remove.text', { size })}</div>
      </>
    )
    if (!(await confirm({ title: t('trash.remove.title'), text, ok: t('trash.remove') }))) return
    await del('/file/trash', { ids: files.map((file) => file.id).join(',') })
    notify(t('trash.removed'))
    await list.reload()
  }

  const mayRestore = may('file.trash.restore')
  const mayRemove = may('file.trash.delete')
  return (
    <List<TrashedFile>
      title={t('menu.file.trash')}
      list={list}
      empty={t('trash.empty')}
      create={false}
      note={
        <>
          {days ? t('trash.days', { n: days }) : t('trash.some_days')}
          {list.hidden > 0 && ` ${t('files.hidden', { n: count(list.hidden) })}`}
        </>
      }
      batch={
        mayRestore || mayRemove
          ? (chosen) => (
              <>
                {mayRestore && <Button onClick={() => void restore(chosen)}>{t('trash.restore')}</Button>}
                {mayRemove && <Button onClick={() => void remove(chosen)}>{t('trash.remove')}</Button>}
              </>
            )
          : undefined
      }
      columns={[
        {
          title: t('name'),
          ...list.order('name'),
          render: (name: string, file) => (
            <div style={{ maxWidth: 360, overflow: 'hidden', textOverflow: 'ellipsis', whiteSpace: 'nowrap' }} title={name}>
              <FileIcon file={file} /> <bdi>{name}</bdi>
            </div>
          ),
        },
        { title: t('files.size'), ...list.order('size'), align: 'end', render: bytes },
        { title: t('files.uploader'), dataIndex: 'uploader_name', render: (name: string, file) => <PersonLink name={name} id={file.uploader_id} /> },
        { title: t('trash.deleted'), ...list.order('trashed_at'), render: (at: string) => <Time at={at} /> },
        actionsColumn((file) => (
          <Actions
            first={mayRestore && { label: t('trash.restore'), onClick: () => void restore([file]) }}
            label={t('files.more', { name: file.name })}
            more={[mayRemove && { label: t('trash.remove'), danger: true, onClick: () => void remove([file]) }]}
          />
        )),
      ]}
    />
  )
}
