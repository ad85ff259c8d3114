import { Form, Switch } from 'antd'
import TextArea from 'antd/es/input/TextArea'
import type { ChoiceNode, Role } from '../../api/types'
import { t } from '../../i18n'
import { NameField, StatusField } from '../../ui/fields'
import { FormDrawer } from '../../ui/FormDrawer'
import { SortField } from '../../ui/SortField'
import { CheckTree } from '../../ui/tree/CheckTree'
import { useAction } from '../../ui/useAction'
import { useLastValue } from '../../ui/useLastValue'
import { marked } from '../../ui/offered'
import { useChoices } from '../../ui/useChoices'
import { ScopeChoice } from './ScopeChoice'
import type { Ceiling } from './useCeiling'
import { useEditor } from '../../ui/useEditor'

type Values = Pick<Role, 'name' | 'description' | 'sort'> & {
  status: boolean
  require_factor: boolean
  password_off: boolean
  data_scope?: Role['data_scope']
  dept_ids?: number[]
}

type Props = {
  edits?: { role?: Role } // undefined while it is closed
  ceiling?: Ceiling
  onClose: () => void
  saved: (role: Role, isNew: boolean) => Promise<void>
}

// RoleDrawer creates a role, or edits its name and description. Permissions have their own
// drawer; only the data scope of a new role is selected here, since without one its
// members see only their own records.
export function RoleDrawer({ edits, ceiling, onClose, saved }: Props) {
  const { notify } = useAction()
  const { of: role, save: store, form } = useEditor('/admin/role', useLastValue(edits)?.role, valuesOf)

  async function save(values: Values) {
    const record = await store(values)
    notify(t(role ? 'role.saved' : 'role.created', { name: record.name }))
    await saved(record, !role)
  }

  return (
    <FormDrawer<Values>
      history={role && { collection: 'role', id: role.id }}
      title={role ? t('role.edit') : t('role.create')}
      open={Boolean(edits)}
      save={save}
      onClose={onClose}
      {...form({ name: '', description: '', sort: 0, status: true, require_factor: false, password_off: false })}
    >
      <NameField />
      <Form.Item name="description" label={t('describe')}>
        <TextArea maxLength={1000} rows={4} />
      </Form.Item>
      <SortField />
      {!role && (
        <>
          <Form.Item
            name="data_scope"
            label={t('role.scope')}
            extra={<div style={{ marginTop: 8 }}>{t('role.scope.help')}</div>}
            rules={[{ required: true, message: t('form.required') }]}
          >
            <ScopeChoice ceiling={ceiling} />
          </Form.Item>
          <Form.Item noStyle dependencies={['data_scope']}>
            {({ getFieldValue }) =>
              getFieldValue('data_scope') === 'custom' && (
                <Form.Item name="dept_ids" label={t('menu.admin.dept')} required>
                  <Departments />
                </Form.Item>
              )
            }
          </Form.Item>
        </>
      )}
      <Form.Item name="require_factor" label={t('role.factor')} extra={t('role.factor.help')} valuePropName="checked">
        <Switch />
      </Form.Item>
      <Form.Item name="password_off" label={t('role.password_off')} extra={t('role.password_off.help')} valuePropName="checked">
        <Switch />
      </Form.Item>
      <StatusField />
    </FormDrawer>
  )
}

// Departments selects the departments of a custom scope.
function Departments({ value = [], onChange }: { value?: number[]; onChange?: (ids: number[]) => void }) {
  const depts = useChoices('dept')
  return (
    depts && (
      <CheckTree<ChoiceNode>
        label={t('menu.admin.dept')}
        tree={depts}
        checked={new Set(value)}
        onChange={(ids) => onChange?.([...ids])}
        name={marked}
        free={(node) => node.status !== 0}
        height="240px"
      />
    )
  )
}

const valuesOf = ({ name, description, sort, status, require_factor, password_off }: Role): Values => ({
  name,
  description,
  sort,
  status: status === 1,
  require_factor: require_factor === 1,
  password_off: password_off === 1,
})
