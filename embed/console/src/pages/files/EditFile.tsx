import { Form, Input, Select, Switch } from 'antd'
import { Failure, get, put } from '../../api/request'
import type { File } from '../../api/types'
import { t } from '../../i18n'
import { FormDrawer } from '../../ui/FormDrawer'
import { useAct } from '../../ui/useAct'
import type { Groups } from './useGroups'

type Values = { name: string; group_id: number; public: boolean }
const valuesOf = (file: File): Values => ({ name: file.name, group_id: file.group_id, public: file.public === 1 })

type Props = { file: File; groups: Groups; open: boolean; onClose: () => void; reload: () => Promise<unknown>; saved: () => Promise<unknown> }

// EditFile changes a file's record; its bytes never change.
export function EditFile({ file, groups, open, onClose, reload, saved }: Props) {
  const { done, sure } = useAct()

  async function save(values: Values) {
    const ends = file.public === 1 && !values.public
    if (ends && !(await sure({ title: t('files.unpublish.title'), text: t('files.unpublish.text'), ok: t('files.unpublish') }))) {
      throw new Failure(0, 'kept_public', t('files.unpublish.kept'), 0)
    }
    await put(`/file/list/${file.id}`, { ...values, updated_at: file.updated_at }, { quiet: true })
    await saved()
    done(t('saved'))
  }

  async function again() {
    const [fresh] = await Promise.all([get<File>(`/file/list/${file.id}`), reload()])
    return valuesOf(fresh)
  }

  return (
    <FormDrawer<Values> title={t('files.edit')} open={open} onClose={onClose} save={save} again={again} initial={valuesOf(file)}>
      <Form.Item name="name" label={t('name')} rules={[{ required: true, message: t('form.required') }]}>
        <Input maxLength={255} dir="auto" />
      </Form.Item>
      {groups.seen && (
        <Form.Item name="group_id" label={t('files.group')} required>
          <Select
            showSearch={{ optionFilterProp: 'label' }}
            options={[{ value: 0, label: t('files.ungrouped') }, ...groups.all.map(({ id, name }) => ({ value: id, label: name }))]}
          />
        </Form.Item>
      )}
      <Form.Item name="public" label={t('files.public')} required valuePropName="checked" extra={t('files.publish.text')}>
        <Switch />
      </Form.Item>
    </FormDrawer>
  )
}
