import { FileOutlined, FolderOpenOutlined, FolderOutlined, InboxOutlined } from '@ant-design/icons'
import { Input, Select, Typography } from 'antd'
import { type ReactNode, useState } from 'react'
import { t } from '../../i18n'
import { clear } from '../../ui/clear'
import { count } from '../../ui/format'
import { byLabel, folded, has } from '../../ui/fold'
import type { Folder } from './useGroups'

type Props = {
  groups: Folder[]
  value: string | undefined // folder ID in the URL; "0" for files without a folder
  onChange: (value: string | undefined) => void
}

const shown = 200 // more are found by searching

// GroupSide lists the folders beside their files.
export function GroupSide({ groups, value, onChange }: Props) {
  const [text, setText] = useState('')
  const found = text ? groups.filter((group) => has(folded(text), group.name)) : groups
  const entry = (key: string | undefined, icon: ReactNode, name: string, files?: number) => (
    <li key={key ?? ''}>
      <button type="button" aria-current={value === key ? 'true' : undefined} title={name} onClick={() => onChange(key)}>
        {icon}
        <span>
          <bdi>{name}</bdi>
        </span>
        {files !== undefined && <span>{count(files)}</span>}
      </button>
    </li>
  )
  return (
    <nav className="file-groups" aria-label={t('files.groups')}>
      {groups.length > 20 && (
        <Input
          allowClear={clear()}
          size="small"
          value={text}
          onChange={(e) => setText(e.target.value)}
          placeholder={t('files.group.find')}
          aria-label={t('files.group.find')}
        />
      )}
      <ul>
        {!text && entry(undefined, <FileOutlined />, t('files.all'))}
        {!text && entry('0', <InboxOutlined />, t('files.ungrouped'))}
        {found.slice(0, shown).map((group) => {
          const key = String(group.id)
          return entry(key, key === value ? <FolderOpenOutlined /> : <FolderOutlined />, group.name, group.file_count)
        })}
      </ul>
      {found.length > shown && <Typography.Text type="secondary">{t('files.group.rest', { n: count(found.length - shown) })}</Typography.Text>}
      {text && found.length === 0 && <Typography.Text type="secondary">{t('empty.narrowed')}</Typography.Text>}
    </nav>
  )
}

// GroupSelect replaces it on narrow screens.
export function GroupSelect({ groups, value, onChange }: Props) {
  return (
    <Select
      style={{ flex: '1 1 100%', minWidth: 0 }}
      aria-label={t('files.group')}
      value={value ?? ''}
      onChange={(to) => onChange(to || undefined)}
      showSearch={byLabel}
      options={[
        { value: '', label: t('files.all') },
        { value: '0', label: t('files.ungrouped') },
        ...groups.map((group) => ({ value: String(group.id), label: group.name })),
      ]}
    />
  )
}
