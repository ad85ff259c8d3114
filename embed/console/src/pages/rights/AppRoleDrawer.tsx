import { Form, Switch, Tag, Typography } from 'antd'
import TextArea from 'antd/es/input/TextArea'
import { put } from '../../api/request'
import type { AppRole, ChoiceNode } from '../../api/types'
import { useAccount } from '../../app/account'
import { t } from '../../i18n'
import { NameField, StatusField } from '../../ui/fields'
import { FormDrawer } from '../../ui/FormDrawer'
import { SortField } from '../../ui/SortField'
import { CheckTree } from '../../ui/tree/CheckTree'
import { KeyTail } from '../../ui/tree/search'
import { useAction } from '../../ui/useAction'
import { useChoices } from '../../ui/useChoices'
import { useEditor } from '../../ui/useEditor'
import { useLastValue } from '../../ui/useLastValue'
import { copyName } from './words'

type Values = Pick<AppRole, 'name' | 'description' | 'sort' | 'rule_ids'> & { status: boolean; default: boolean; password_off: boolean }

type Props = {
  edits?: { role?: AppRole; copy?: AppRole } // undefined while it is closed; copy is what a new role begins with
  onClose: () => void
  saved: () => Promise<void>
}

// AppRoleDrawer creates or edits a role of app users, with its permissions.
export function AppRoleDrawer({ edits, onClose, saved }: Props) {
  const { may } = useAccount()
  const { notify } = useAction()
  const { role: edited, copy } = useLastValue(edits) ?? {}
  const { of: role, save: store, form } = useEditor('/user/role', edited, valuesOf)
  const blank = { name: '', description: '', sort: 0, status: true, default: false, password_off: false, rule_ids: [] }
  const props = form(copy ? { ...valuesOf(copy), name: copyName(copy) } : blank)
  const [details, grants] = [role ? may('user.role.update') : true, may('user.role.rule')]

  // save writes the differences, in the one or two operations of the API.
  async function save({ rule_ids, ...values }: Values) {
    let record = details ? await store(values) : role!
    const had = new Set(role?.rule_ids ?? [])
    if (grants && (had.size !== rule_ids.length || rule_ids.some((id) => !had.has(id))))
      record = await put(`/user/role/${record.id}/rule`, { rule_ids, updated_at: record.updated_at }, { quiet: true })
    notify(t(role ? 'role.saved' : 'app_role.created', { name: record.name }))
    await saved()
  }

  return (
    <FormDrawer<Values>
      history={role && { collection: 'app_role', id: role.id }}
      title={role ? t('role.edit') : copy ? t('role.copy.of', { name: copy.name }) : t('role.create')}
      open={Boolean(edits)}
      save={save}
      onClose={onClose}
      {...props}
      draft={copy ? { ...props.draft, key: `${props.draft.key}?copy=${copy.id}` } : props.draft}
    >
      <NameField disabled={!details} />
      <Form.Item name="description" label={t('describe')}>
        <TextArea maxLength={1000} rows={2} disabled={!details} />
      </Form.Item>
      <Form.Item name="rule_ids" label={t('role.permissions')}>
        <Grants fixed={!grants} />
      </Form.Item>
      <SortField disabled={!details} />
      <Form.Item name="default" label={t('app_role.default')} required valuePropName="checked" extra={t('app_role.default.help')}>
        <Switch disabled={!details} />
      </Form.Item>
      <Form.Item name="password_off" label={t('role.password_off')} extra={t('app_role.password_off.help')} valuePropName="checked">
        <Switch disabled={!details} />
      </Form.Item>
      <StatusField disabled={!details} />
    </FormDrawer>
  )
}

// Grants selects the permissions of the role.
function Grants({ value = [], onChange, fixed }: { value?: number[]; onChange?: (ids: number[]) => void; fixed: boolean }) {
  const rules = useChoices('app_permission')
  if (!rules) return null
  if (!rules.length) return <Typography.Text type="secondary">{t('app_rule.empty')}</Typography.Text>
  return (
    <CheckTree<ChoiceNode>
      label={t('role.permissions')}
      tree={rules}
      checked={new Set(value)}
      onChange={fixed ? undefined : (ids) => onChange?.([...ids])}
      name={(node) => node.name}
      texts={(node) => [node.key]}
      height="240px"
      tail={(node, search) => (
        <>
          <KeyTail of={node} search={search} />
          {node.status === 0 && <Tag variant="filled">{t('role.off')}</Tag>}
        </>
      )}
    />
  )
}

const valuesOf = ({ name, description, sort, status, default: given, password_off, rule_ids }: AppRole): Values => ({
  name,
  description,
  sort,
  rule_ids,
  status: status === 1,
  default: given === 1,
  password_off: password_off === 1,
})
