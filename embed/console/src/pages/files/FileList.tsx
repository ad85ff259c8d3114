import { AppstoreOutlined, UnorderedListOutlined, UploadOutlined } from '@ant-design/icons'
import { Button, Empty, Pagination, Segmented, Select, Typography } from 'antd'
import { type ReactNode, useRef, useState } from 'react'
import type { File as Stored } from '../../api/types'
import { useAccount } from '../../app/account'
import { singleKeys } from '../../app/keys'
import { type Key, t } from '../../i18n'
import { Bar } from '../../ui/Bar'
import { dock } from '../../ui/dock'
import { count } from '../../ui/format'
import { arrange } from '../../ui/layout'
import { useTable } from '../../ui/useTable'
import { useWider } from '../../ui/useWider'
import { AfterUploads } from './AfterUploads'
import { BatchBar } from './BatchBar'
import { Details } from './Details'
import { DropZone } from './DropZone'
import { FileGrid } from './FileGrid'
import { FileTable, fileColumns } from './FileTable'
import { GroupSelect, GroupSide } from './GroupSide'
import { MoveDialog } from './MoveDialog'
import { Preview } from './Preview'
import { UploadPanel } from './UploadPanel'
import { add } from './uploads'
import { useActions } from './useActions'
import { useSelection } from './useSelection'
import { useGroups } from './useGroups'
import './files.css'

const viewKey = 'reeve.files.view'
const kinds = ['image', 'audio', 'video', 'document', 'archive', 'other']
const orders = ['id descend', 'id ascend', 'name ascend', 'name descend', 'size descend', 'size ascend']
const none: Stored[] = []

// FileList shows the files of a folder as a grid or table.
export function FileList() {
  const { may } = useAccount()
  const lg = useWider('lg')
  const list = useTable<Stored>('/file/list', {}, { own: ['view'], size: 50 })
  const rows = list.table.dataSource ?? none
  const groups = useGroups()
  const chosen = useSelection(rows)
  const reload = () => Promise.all([list.reload(), groups.reload()])
  const actions = useActions(reload)
  const [previewed, setPreviewed] = useState<Stored>()

  const view = (list.params.get('view') ?? localStorage.getItem(viewKey)) === 'list' ? 'list' : 'grid'
  const group = list.params.get('group_id') ?? undefined
  const into = Number(group ?? 0)
  const setGroup = (group_id: string | undefined) => list.set({ group_id })
  const selectable = may('file.list.update') || may('file.list.delete') || may('file.list.download')

  function upload(files: File[]) {
    dock(<UploadPanel />)
    add(files, into, may('file.list.update'))
  }

  const side = { groups: groups.all, value: group, onChange: setGroup }
  const columns = fileColumns({ order: list.order, groups, open: setPreviewed, actions })
  return (
    <>
      <AfterUploads reload={reload} />
      <Bar
        title={t('menu.file.list')}
        list={{ ...list, reload: async () => void (await reload()) }}
        filters={
          <>
            {!lg && <GroupSelect {...side} />}
            <Filters list={list} order={view === 'grid'} />
            <Segmented
              aria-label={t('files.view')}
              value={view}
              onChange={(to) => {
                localStorage.setItem(viewKey, to)
                list.set({ view: to, page: list.params.get('page') ?? undefined })
              }}
              options={[
                { value: 'grid', icon: <AppstoreOutlined aria-label={t('files.view.grid')} />, title: t('files.view.grid') },
                { value: 'list', icon: <UnorderedListOutlined aria-label={t('files.view.list')} />, title: t('files.view.list') },
              ]}
            />
          </>
        }
        menu={view === 'list' ? { list, columns } : undefined}
        actions={may('file.list.create') && <UploadButton onFiles={upload} />}
      />
      <div className="file-page">
        {lg && <GroupSide {...side} />}
        <section aria-label={t('menu.file.list')} aria-busy={Boolean(list.table.loading)}>
          <BatchBar chosen={chosen} actions={actions} />
          {rows.length > 0 && view === 'grid' && <FileGrid files={rows} chosen={chosen} open={setPreviewed} actions={actions} selectable={selectable} />}
          {rows.length > 0 && view === 'list' && (
            <FileTable table={list.table} columns={arrange(columns, list.layout)} chosen={chosen} selectable={selectable} />
          )}
          {rows.length === 0 && !list.table.loading && <Nothing list={list} />}
          {rows.length > 0 && list.hidden > 0 && (
            <Typography.Paragraph type="secondary" style={{ margin: '16px 0 0' }}>
              {t('files.hidden', { n: count(list.hidden) })}
            </Typography.Paragraph>
          )}
          {list.total > 0 && (
            <Pagination
              {...(list.table.pagination || {})}
              align="end"
              style={{ marginTop: 16 }}
              onChange={(page, size) => list.set({ page: String(page), pageSize: size === 50 ? undefined : String(size) })}
            />
          )}
        </section>
      </div>
      {may('file.list.create') && <DropZone text={into ? t('files.drop.into', { name: groups.name(into) }) : t('files.drop')} onFiles={upload} />}
      <MoveDialog files={actions.moving} move={actions.moveTo} onClose={() => actions.move([])} />
      <Details actions={actions} groups={groups} rows={rows} preview={setPreviewed} changed={reload} />
      <Preview
        files={rows}
        file={previewed}
        onOpen={(id) => setPreviewed(rows.find((file) => file.id === id))}
        onClose={() => setPreviewed(undefined)}
        actions={actions}
      />
    </>
  )
}

type List = ReturnType<typeof useTable<Stored>>

function Filters({ list, order }: { list: List; order: boolean }) {
  const lg = useWider('lg')
  const width = lg ? 136 : 'calc(50% - 4px)'
  const { params, set } = list
  return (
    <>
      <Select
        allowClear
        style={{ width }}
        placeholder={t('files.kind')}
        aria-label={t('files.kind')}
        value={params.get('kind') ?? undefined}
        onChange={(kind?: string) => set({ kind })}
        options={kinds.map((value) => ({ value, label: t(`files.kind.${value}` as Key) }))}
      />
      <Select
        allowClear
        style={{ width }}
        placeholder={t('files.access')}
        aria-label={t('files.access')}
        value={params.get('public') ?? undefined}
        onChange={(to?: string) => set({ public: to })}
        options={[
          { value: '1', label: t('files.public') },
          { value: '0', label: t('files.private') },
        ]}
      />
      {order && (
        <Select
          style={{ width }}
          aria-label={t('files.order')}
          value={list.sorted || orders[0]}
          onChange={(to: string) => {
            const [field, direction] = to.split(' ')
            set({ sorter: to === orders[0] ? undefined : JSON.stringify({ [field!]: direction }) })
          }}
          options={orders.map((value) => ({ value, label: t(`files.order.${value.replace(' ', '.')}` as Key) }))}
        />
      )}
    </>
  )
}

function UploadButton({ onFiles }: { onFiles: (files: File[]) => void }) {
  const input = useRef<HTMLInputElement>(null)
  return (
    <>
      <input
        ref={input}
        type="file"
        multiple
        hidden
        aria-label={t('files.upload')}
        onChange={(e) => {
          onFiles([...(e.target.files ?? [])])
          e.target.value = '' // lets the same file be selected again
        }}
      />
      <Button type="primary" icon={<UploadOutlined />} onClick={() => input.current?.click()} data-create aria-keyshortcuts={singleKeys() ? 'c' : undefined}>
        {t('files.upload')}
      </Button>
    </>
  )
}

// Nothing is the empty state.
function Nothing({ list }: { list: List }) {
  const { may } = useAccount()
  const hidden = ['keywordSearch', 'kind', 'public'].filter((name) => list.params.has(name))
  const outside = list.hidden > 0 && <div>{t('files.hidden', { n: count(list.hidden) })}</div>
  const empty = (text: ReactNode, children?: ReactNode) => (
    <Empty
      image={Empty.PRESENTED_IMAGE_SIMPLE}
      description={
        <>
          {text}
          {outside}
        </>
      }
      style={{ padding: '48px 0' }}
    >
      {children}
    </Empty>
  )
  if (hidden.length)
    return empty(t('empty.narrowed'), <Button onClick={() => list.set(Object.fromEntries(hidden.map((name) => [name, undefined])))}>{t('empty.clear')}</Button>)
  if (!may('file.list.create')) return empty(t('files.empty'))
  const upload = t('files.upload')
  return empty(
    t('files.empty.upload'),
    <Button
      icon={<UploadOutlined />}
      aria-label={t('empty.first', { create: upload })}
      onClick={() => document.querySelector<HTMLElement>('main [data-create]')?.click()}
    >
      {upload}
    </Button>,
  )
}
