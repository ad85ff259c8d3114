import { Form, Input, Select, Switch } from 'antd'
import { Failure, get } from '../../api/request'
import type { File } from '../../api/types'
import { t } from '../../i18n'
import { FormDrawer } from '../../ui/FormDrawer'
import { useAction } from '../../ui/useAction'
import { useChoices } from '../../ui/useChoices'
import { byLabel } from '../../ui/fold'
import { useEditor } from '../../ui/useEditor'

type Values = { name: string; group_id: number; public: boolean }
const valuesOf = (file: File): Values => ({ name: file.name, group_id: file.group_id, public: file.public === 1 })

type Props = { file: File; open: boolean; onClose: () => void; reload: () => Promise<unknown>; saved: () => Promise<unknown> }

// EditFile edits a file's metadata. Its content is replaced by a new version: see Versions.
export function EditFile({ file, open, onClose, reload, saved }: Props) {
  const { confirm } = useAction()
  const groups = useChoices('file_group', open)
  const { change, form } = useEditor('/file/list', file, valuesOf, async ({ id }) => (await Promise.all([get(`/file/list/${id}`), reload()]))[0])

  async function save(values: Values) {
    const ends = file.public === 1 && !values.public
    if (ends && !(await confirm({ title: t('files.unpublish.title'), text: t('files.unpublish.text'), ok: t('files.unpublish') }))) {
      throw new Failure(0, 'kept_public', t('files.unpublish.kept'), 0)
    }
    await change(values)
    await saved()
  }

  return (
    <FormDrawer<Values> title={t('files.edit')} open={open} onClose={onClose} save={save} {...form({})} history={{ collection: 'file', id: file.id }}>
      <Form.Item name="name" label={t('name')} rules={[{ required: true, message: t('form.required') }]}>
        <Input maxLength={255} dir="auto" />
      </Form.Item>
      <Form.Item name="group_id" label={t('files.group')} required>
        <Select
          loading={!groups}
          showSearch={byLabel}
          options={[{ value: 0, label: t('files.ungrouped') }, ...(groups ?? []).map(({ id, name }) => ({ value: id, label: name }))]}
        />
      </Form.Item>
      <Form.Item
        name="public"
        label={t('files.public')}
        required
        valuePropName="checked"
        extra={t(file.keeps_metadata ? 'files.publish.metadata' : 'files.publish.text')}
      >
        <Switch />
      </Form.Item>
    </FormDrawer>
  )
}
