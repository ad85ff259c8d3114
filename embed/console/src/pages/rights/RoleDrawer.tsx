import { Form, Select, Switch } from 'antd'
import TextArea from 'antd/es/input/TextArea'
import { get, put } from '../../api/request'
import type { ChoiceNode, Role } from '../../api/types'
import { useAccount } from '../../app/account'
import { type Key, t } from '../../i18n'
import { NameField, StatusField } from '../../ui/fields'
import { FormDrawer } from '../../ui/FormDrawer'
import { SortField } from '../../ui/SortField'
import { CheckTree } from '../../ui/tree/CheckTree'
import { useAction } from '../../ui/useAction'
import { useLastValue } from '../../ui/useLastValue'
import { marked } from '../../ui/offered'
import { useChoices } from '../../ui/useChoices'
import { useGet } from '../../ui/useGet'
import { Reach } from './Reach'
import { ScopeChoice } from './ScopeChoice'
import type { Ceiling } from './useCeiling'
import { copyName } from './words'
import { useEditor } from '../../ui/useEditor'

type Values = Pick<Role, 'name' | 'description' | 'sort'> & {
  status: boolean
  require_factor: boolean
  password_off: boolean
  data_scope?: Role['data_scope']
  dept_ids?: number[]
  preset?: string
}

type Props = {
  edits?: { role?: Role; copy?: Role } // undefined while it is closed; copy is what a new role begins with
  ceiling?: Ceiling
  onClose: () => void
  saved: (role: Role, isNew: boolean) => Promise<void>
}

// RoleDrawer creates a role, or edits its name and description. Permissions have their own
// drawer; only the data scope of a new role is selected here, since without one its
// members see only their own records.
export function RoleDrawer({ edits, ceiling, onClose, saved }: Props) {
  const { notify } = useAction()
  const { role: edited, copy } = useLastValue(edits) ?? {}
  const { of: role, save: store, form } = useEditor('/admin/role', edited, valuesOf)
  const blank = { name: '', description: '', sort: 0, status: true, require_factor: false, password_off: false }
  const props = form(copy ? { ...valuesOf(copy), name: copyName(copy), data_scope: copy.data_scope, dept_ids: copy.dept_ids } : blank)

  async function save({ preset, ...values }: Values) {
    const made = await store(copy ? { ...values, grant_role_ids: copy.grant_role_ids } : values)
    const keys = preset && (await get('/admin/role-preset')).data.find(({ key }) => key === preset)?.permissions
    const given = keys ? { permissions: keys } : copy && { rule_ids: copy.rule_ids }
    const record = given ? await put(`/admin/role/${made.id}/rule`, given) : made
    const from = preset ? t(`role.preset.${preset}` as Key) : copy?.name
    notify(
      from && record.rule_ids.length ? t('role.created.with', { name: record.name, from }) : t(role ? 'role.saved' : 'role.created', { name: record.name }),
    )
    await saved(record, !role)
  }

  return (
    <FormDrawer<Values>
      history={role && { collection: 'role', id: role.id }}
      title={role ? t('role.edit') : copy ? t('role.copy.of', { name: copy.name }) : t('role.create')}
      open={Boolean(edits)}
      save={save}
      onClose={onClose}
      {...props}
      draft={copy ? { ...props.draft, key: `${props.draft.key}?copy=${copy.id}` } : props.draft}
    >
      {!role && !copy && <PresetField />}
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
      {role && edits && <Reach {...reachOf(role)} />}
    </FormDrawer>
  )
}

const reachOf = ({ id, rule_ids, data_scope, dept_ids, grant_role_ids }: Role) => ({ id, rule_ids, data_scope, dept_ids, grant_role_ids })

// PresetField starts a new role from a usual one, which fills the empty fields. The permissions are those that
// the user can grant.
function PresetField() {
  const { may } = useAccount()
  const form = Form.useFormInstance<Values>()
  const chosen = Form.useWatch('preset', form)
  const presets = useGet(may('admin.role.rule') ? '/admin/role-preset' : '').data?.data
  const grants = useChoices('permission', may('admin.role.rule'))
  if (!presets?.length || !grants) return null
  const free = keysOf(grants)
  function choose(key?: string) {
    const preset = presets?.find((one) => one.key === key)
    const others = presets?.map((one) => t(`role.preset.${one.key}` as Key)) ?? []
    const name = form.getFieldValue('name') as string
    if (preset && (!name || others.includes(name))) form.setFieldsValue({ name: t(`role.preset.${preset.key}` as Key) })
    if (preset) form.setFieldsValue({ data_scope: preset.data_scope, description: t(`role.preset.${preset.key}.text` as Key) })
  }
  return (
    <Form.Item name="preset" label={t('role.preset')} extra={chosen ? t(`role.preset.${chosen}.text` as Key) : t('role.preset.help')}>
      <Select<string>
        allowClear
        placeholder={t('role.preset.none')}
        onChange={choose}
        options={presets.map(({ key, permissions }) => {
          const lacks = permissions.some((one) => !free.has(one))
          const name = t(`role.preset.${key}` as Key)
          return { value: key, label: lacks ? t('role.give.beyond', { name }) : name, disabled: lacks }
        })}
      />
    </Form.Item>
  )
}

const keysOf = (nodes: ChoiceNode[], keys = new Set<string>()): Set<string> => {
  for (const node of nodes) keysOf(node.children ?? [], keys.add(node.key))
  return keys
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
