import { Form, Input } from 'antd'
import type { AppPermission, AppPermissionNode } from '../../api/types'
import { t } from '../../i18n'
import { NameField, StatusField } from '../../ui/fields'
import { FormDrawer } from '../../ui/FormDrawer'
import { useAction } from '../../ui/useAction'
import { useEditor } from '../../ui/useEditor'
import { useLastValue } from '../../ui/useLastValue'
import { lastSort, ParentSelect } from './ParentSelect'
import type { NodeProps } from './useEdits'

type Values = Pick<AppPermission, 'parent_id' | 'name' | 'key'> & { status: boolean }

const nameOf = (node: AppPermissionNode) => node.name

// AppPermissionDrawer creates or edits a permission of app users.
export function AppPermissionDrawer({ edits, tree, onClose, reload, saved }: NodeProps<AppPermissionNode>) {
  const { notify } = useAction()
  const kept = useLastValue(edits)
  const parent = kept?.parent
  const { of: node, create, change, form } = useEditor('/user/rule', kept?.node, valuesOf, reload)

  async function save(values: Values) {
    const record = node ? await change(values) : await create({ ...values, sort: lastSort(tree, values.parent_id) })
    if (!node) notify(t('rule.created', { name: record.name }))
    await saved(record.id)
  }

  return (
    <FormDrawer<Values>
      history={node && { collection: 'app_permission', id: node.id }}
      title={node ? t('rule.edit') : t('rule.create')}
      open={Boolean(edits)}
      save={save}
      onClose={onClose}
      {...form({ parent_id: parent?.id ?? 0, name: '', key: parent ? `${parent.key}.` : 'app.', status: true })}
    >
      <ParentSelect tree={tree} self={node?.id} name={nameOf} />
      <NameField />
      <Form.Item name="key" label={t('rule.key')} extra={t('app_rule.key.help')} rules={[{ required: true, message: t('form.required') }]}>
        <Input maxLength={100} spellCheck={false} autoCapitalize="none" />
      </Form.Item>
      <StatusField />
    </FormDrawer>
  )
}

const valuesOf = ({ parent_id, name, key, status }: AppPermissionNode): Values => ({ parent_id, name, key, status: status === 1 })
