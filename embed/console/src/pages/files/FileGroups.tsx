import { Input, InputNumber } from 'antd'
import TextArea from 'antd/es/input/TextArea'
import { Link, useNavigate } from 'react-router'
import { post } from '../../api/request'
import type { FileGroup } from '../../api/types'
import { useAccount } from '../../app/account'
import { t } from '../../i18n'
import { count } from '../../ui/format'
import { Resource } from '../../ui/Resource'
import { Time } from '../../ui/Time'
import { useAction } from '../../ui/useAction'
import { useRemove } from '../../ui/useRemove'
import { Named } from './useActions'

type Values = Pick<FileGroup, 'name' | 'sort' | 'describe'>

const blank: Values = { name: '', sort: 0, describe: '' }
const valuesOf = ({ name, sort, describe }: FileGroup): Values => ({ name, sort, describe })

// FileGroups lists the folders with their file counts.
export function FileGroups() {
  const { may } = useAccount()
  const { confirm } = useAction()
  const removing = useRemove()
  const navigate = useNavigate()
  const toFiles = ({ id }: FileGroup) => `/file/list?group_id=${id}`

  async function remove(one: FileGroup, reload: () => Promise<void>) {
    if (one.file_count > 0) {
      const look = await confirm({
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
    const removed = await removing({
      path: `/file/group/${one.id}`,
      question: {
        title: t('files.group.delete'),
        text: (
          <>
            <Named name={one.name} />
            <div>{t('files.group.delete.text')}</div>
          </>
        ),
        ok: t('delete'),
      },
      message: t('files.group.deleted'),
      needs: ['file.group.create'],
      restore: may('file.group.create') ? () => post('/file/group', valuesOf(one)).then(reload) : undefined,
    })
    if (removed) await reload()
  }

  return (
    <Resource
      path="/file/group"
      may="file.group"
      collection="file_group"
      title={t('menu.file.group')}
      create={t('files.group.new')}
      edit={t('files.group.edit')}
      name={(one: FileGroup) => one.name}
      search={false}
      empty={t('files.group.empty')}
      columns={(list) => [
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
      ]}
      blank={blank}
      values={valuesOf}
      remove={(one, list) => remove(one, list.reload)}
      fields={[
        { name: 'name', label: t('name'), rules: [{ required: true, message: t('form.required') }], children: <Input maxLength={100} dir="auto" /> },
        { name: 'sort', label: t('sort'), extra: t('files.group.sort'), children: <InputNumber precision={0} style={{ width: '100%' }} /> },
        { name: 'describe', label: t('describe'), children: <TextArea maxLength={1000} rows={4} dir="auto" /> },
      ]}
    />
  )
}
