import { PlusOutlined } from '@ant-design/icons'
import { Button, Form, Input, InputNumber } from 'antd'
import TextArea from 'antd/es/input/TextArea'
import { useState } from 'react'
import { Link, useNavigate } from 'react-router'
import { del, post } from '../../api/request'
import type { FileGroup } from '../../api/types'
import { useAccount } from '../../app/account'
import { t } from '../../i18n'
import { Actions } from '../../ui/Actions'
import { count } from '../../ui/format'
import { FormDrawer } from '../../ui/FormDrawer'
import { List } from '../../ui/List'
import { Time } from '../../ui/Time'
import { useAct } from '../../ui/useAct'
import { useTable } from '../../ui/useTable'
import { Named } from './useActions'
import { useEditor } from '../../ui/useEditor'
import { useKept } from '../../ui/useKept'

type Values = Pick<FileGroup, 'name' | 'sort' | 'describe'>

const blank: Values = { name: '', sort: 0, describe: '' }
const valuesOf = ({ name, sort, describe }: FileGroup): Values => ({ name, sort, describe })

// FileGroups is the folders of files, and how many are in each.
export function FileGroups() {
  const { may } = useAccount()
  const { sure, done } = useAct()
  const navigate = useNavigate()
  const list = useTable<FileGroup>('/file/group')
  const [edited, setEdited] = useState<FileGroup | 'new'>()
  const kept = useKept(edited)
  const group = kept === 'new' ? undefined : kept
  const editor = useEditor('/file/group', group, valuesOf)
  const toFiles = ({ id }: FileGroup) => `/file/list?group_id=${id}`

  async function save(values: Values) {
    await editor.save(values)
    done(t('saved'))
    await list.reload()
  }

  async function remove(one: FileGroup) {
    if (one.file_count > 0) {
      const look = await sure({
        title: t('files.group.full'),
        text: (
          <>
            <Named name={one.name} />
            <div>{t('files.group.full.text', { n: count(one.file_count) })}</div>
          </>
        ),
        ok: t('files.group.show'),
        harmless: true,
      })
      if (look) void navigate(toFiles(one))
      return
    }
    if (
      !(await sure({
        title: t('files.group.delete'),
        text: (
          <>
            <Named name={one.name} />
            <div>{t('files.group.delete.text')}</div>
          </>
        ),
        ok: t('delete'),
      }))
    )
      return
    await del(`/file/group/${one.id}`)
    const undo = () => post('/file/group', valuesOf(one)).then(() => list.reload())
    done(t('files.group.deleted'), may('file.group.create') ? undo : undefined)
    await list.reload()
  }

  const create = may('file.group.create') && (
    <Button type="primary" icon={<PlusOutlined />} onClick={() => setEdited('new')}>
      {t('files.group.new')}
    </Button>
  )
  return (
    <>
      <List
        title={t('menu.file.group')}
        list={list}
        search={false}
        actions={create}
        empty={t('files.group.empty')}
        columns={[
          {
            title: t('name'),
            ...list.order('name'),
            render: (name: string) => (
              <div style={{ maxWidth: 320, overflow: 'hidden', textOverflow: 'ellipsis', whiteSpace: 'nowrap' }} title={name}>
                <bdi>{name}</bdi>
              </div>
            ),
          },
          {
            title: t('files.count'),
            dataIndex: 'file_count',
            align: 'end',
            render: (n: number, one) =>
              may('file.list.query') ? (
                <Link to={toFiles(one)} aria-label={t('files.group.show_n', { n: count(n), name: one.name })}>
                  {count(n)}
                </Link>
              ) : (
                count(n)
              ),
          },
          { title: t('sort'), ...list.order('sort'), align: 'end' },
          {
            title: t('describe'),
            dataIndex: 'describe',
            render: (text: string) => (
              <div style={{ maxWidth: 360, minWidth: 120, overflow: 'hidden', textOverflow: 'ellipsis', whiteSpace: 'nowrap' }} title={text}>
                <bdi>{text || '—'}</bdi>
              </div>
            ),
          },
          { title: t('updated_at'), dataIndex: 'updated_at', render: (at: string) => <Time at={at} /> },
          {
            title: t('actions'),
            key: 'actions',
            align: 'end',
            fixed: 'end',
            render: (_, one) => (
              <Actions
                first={may('file.group.update') && { label: t('edit'), onClick: () => setEdited(one) }}
                label={t('files.more', { name: one.name })}
                more={[may('file.group.delete') && { label: t('delete'), danger: true, onClick: () => void remove(one) }]}
              />
            ),
          },
        ]}
      />
      <FormDrawer<Values>
        title={group ? t('files.group.edit') : t('files.group.new')}
        open={edited !== undefined}
        onClose={() => setEdited(undefined)}
        save={save}
        {...editor.form(blank)}
      >
        <Form.Item name="name" label={t('name')} rules={[{ required: true, message: t('form.required') }]}>
          <Input maxLength={100} dir="auto" />
        </Form.Item>
        <Form.Item name="sort" label={t('sort')} extra={t('files.group.sort')}>
          <InputNumber precision={0} style={{ width: '100%' }} />
        </Form.Item>
        <Form.Item name="describe" label={t('describe')}>
          <TextArea maxLength={1000} rows={4} dir="auto" />
        </Form.Item>
      </FormDrawer>
    </>
  )
}
