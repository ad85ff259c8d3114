import { GlobalOutlined } from '@ant-design/icons'
import type { TableProps } from 'antd'
import type { File } from '../../api/types'
import { type Key, t } from '../../i18n'
import { bytes } from '../../ui/format'
import { actionsColumn } from '../../ui/Actions'
import { InHead } from '../../ui/List'
import { PersonLink } from '../../ui/PersonLink'
import { Records } from '../../ui/Records'
import { Time } from '../../ui/Time'
import type { useTable } from '../../ui/useTable'
import { FileMenu } from './FileMenu'
import { Thumb } from './Thumb'
import type { Actions } from './useActions'
import type { useSelection } from './useSelection'
import type { Groups } from './useGroups'

type Props = {
  table: TableProps<File>
  columns: Columns
  chosen: ReturnType<typeof useSelection<File>>
  selectable: boolean
}

type Columns = NonNullable<TableProps<File>['columns']>

type Cells = {
  order: ReturnType<typeof useTable<File>>['order']
  groups: Groups
  open: (file: File) => void
  actions: Actions
}

// fileColumns are the columns of the table of files.
export function fileColumns({ order, groups, open, actions }: Cells): Columns {
  return [
    {
      title: t('name'),
      ...order('name'),
      render: (name: string, file) => (
        <button type="button" className="file-row" title={name} onClick={() => open(file)}>
          <Thumb file={file} size="64x64" />
          <span>
            <bdi>{name}</bdi>
          </span>
        </button>
      ),
    },
    { title: t('files.size'), ...order('size'), align: 'end', render: bytes },
    { title: t('files.kind'), dataIndex: 'kind', render: (kind: string) => t(`files.kind.${kind}` as Key) },
    {
      title: t('files.group'),
      dataIndex: 'group_id',
      render: (id: number) =>
        id ? (
          <div className="file-group" title={groups.name(id)}>
            <bdi>{groups.name(id)}</bdi>
          </div>
        ) : (
          '—'
        ),
    },
    {
      title: t('files.access'),
      dataIndex: 'public',
      render: (open: number) =>
        open ? (
          <>
            <GlobalOutlined /> {t('files.public')}
          </>
        ) : (
          t('files.private')
        ),
    },
    { title: t('files.uploader'), dataIndex: 'uploader_name', render: (name: string, file) => <PersonLink name={name} id={file.uploader_id} /> },
    { title: t('files.uploaded'), ...order('id'), render: (_, file) => <Time at={file.created_at} /> },
    actionsColumn((file) => <FileMenu file={file} actions={() => actions} />, 72),
  ]
}

// FileTable shows files with their metadata.
export function FileTable({ table, columns, chosen, selectable }: Props) {
  return (
    <Records<File>
      {...table}
      pagination={false}
      rowSelection={
        selectable
          ? {
              columnTitle: (all) => <InHead>{all}</InHead>,
              selectedRowKeys: chosen.rows.map((file) => file.id),
              onChange: (keys) => chosen.set(keys.map(Number)),
              getCheckboxProps: (file) => ({ 'aria-label': t('files.choose', { name: file.name }) }) as object,
            }
          : undefined
      }
      columns={columns}
    />
  )
}
