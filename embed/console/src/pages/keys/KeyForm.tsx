import { Form, Input, InputNumber, Select, TreeSelect } from 'antd'
import { useRef } from 'react'
import { useAccount } from '../../app/account'
import { t } from '../../i18n'
import { count } from '../../ui/format'
import { FormDrawer } from '../../ui/FormDrawer'
import { named, type Offered, optionsOf, treeOf } from '../../ui/offered'
import { useChoices } from '../../ui/useChoices'
import { useEditor } from '../../ui/useEditor'
import { useGet } from '../../ui/useGet'
import { Expiry } from './Expiry'
import { type ApiKey, all, expiry, type KeyWithToken, type Lifetime, own as ownPath, standardDays, usual } from './key'
import { byLabel, byText } from '../../ui/fold'

type Values = Pick<ApiKey, 'name' | 'role_ids' | 'data_scope' | 'dept_ids' | 'networks'> & { rate_limit: number | null; expires_at: Lifetime }

type Props = {
  open: boolean
  of?: ApiKey // undefined to create one
  own: boolean // a personal key of the user who is signed in
  onClose: () => void
  onSaved: () => Promise<void>
  onToken: (key: KeyWithToken) => void // a new token, shown once the drawer is closed
}

const ownerRole = 1
const scopes = ['', 'dept_tree', 'dept', 'self', 'custom'] as const

const valuesOf = ({ name, role_ids, data_scope, dept_ids, networks, rate_limit }: ApiKey): Values => ({
  name,
  role_ids,
  data_scope,
  dept_ids,
  networks,
  rate_limit: rate_limit || null,
  expires_at: { keep: true },
})

// KeyForm creates or edits an API key.
export function KeyForm({ open, of: key, own, onClose, onSaved, onToken }: Props) {
  const { may } = useAccount()
  const made = useRef<KeyWithToken>(undefined)
  // Both paths have the same fields; only what is required differs.
  const editor = useEditor((own ? ownPath : all) as typeof all, key, valuesOf)
  const settings = useGet(may('system.setting.query') ? '/system/setting-value' : '').data
  const most = Number(settings?.security?.key_max_days ?? standardDays)
  const rate = Number(settings?.security?.key_rate_limit) || undefined

  async function save({ rate_limit, expires_at, dept_ids, ...rest }: Values) {
    const body = { ...rest, dept_ids: rest.data_scope === 'custom' ? dept_ids : [], rate_limit: rate_limit ?? 0, expires_at: expiry(expires_at, most) }
    if (key) {
      await editor.change(body)
    } else {
      made.current = await editor.create(body)
    }
    await onSaved()
  }

  function closed() {
    if (made.current) onToken(made.current)
    made.current = undefined
  }

  const required = [{ required: true, message: t('form.required') }]
  return (
    <FormDrawer<Values>
      history={key && { collection: 'key', id: key.id }}
      title={t(key ? 'keys.edit' : 'keys.create')}
      open={open}
      onClose={onClose}
      onClosed={closed}
      save={save}
      {...editor.form({ name: '', role_ids: [], data_scope: '', dept_ids: [], networks: [], rate_limit: null, expires_at: { days: usual(most) } })}
    >
      <Form.Item name="name" label={t('name')} extra={t('keys.name.hint')} rules={[{ required: true, whitespace: true, message: t('form.required') }]}>
        <Input maxLength={64} autoComplete="off" />
      </Form.Item>
      <Form.Item name="role_ids" label={t('keys.roles')} rules={own ? undefined : required} extra={t(own ? 'keys.roles.own' : 'keys.roles.service')}>
        <RoleSelect of={key} own={own} />
      </Form.Item>
      <Form.Item name="data_scope" required label={t('keys.scope')} extra={t('keys.scope.hint')}>
        <Select options={scopesOf(key).map((value) => ({ value, label: t(`keys.scope.${value || 'none'}`) }))} />
      </Form.Item>
      <Form.Item noStyle dependencies={['data_scope']}>
        {({ getFieldValue }) =>
          getFieldValue('data_scope') === 'custom' && (
            <Form.Item name="dept_ids" label={t('menu.admin.dept')} rules={required}>
              <Departments of={key} />
            </Form.Item>
          )
        }
      </Form.Item>
      <Form.Item name="networks" label={t('keys.networks')} extra={t('keys.networks.hint')}>
        <Select mode="tags" open={false} suffixIcon={null} tokenSeparators={[',', ';', ' ', '\n']} maxCount={20} placeholder={t('keys.networks.any')} />
      </Form.Item>
      <Form.Item name="rate_limit" label={t('keys.rate')} extra={rate ? t('keys.rate.standard', { n: count(rate) }) : t('keys.rate.hint')}>
        <InputNumber min={1} max={100_000_000} precision={0} style={{ width: 200 }} />
      </Form.Item>
      <Form.Item name="expires_at" required label={t('keys.expires')} rules={[{ validator: dated }]} extra={settings && t('keys.expires.most', { n: most })}>
        <Expiry most={most} expires={key?.expires_at} />
      </Form.Item>
    </FormDrawer>
  )
}

// dated requires a date if one is to be chosen.
const dated = (_: unknown, lifetime: Lifetime) => ('date' in lifetime && !lifetime.date ? Promise.reject(new Error(t('form.required'))) : Promise.resolve())

// scopesOf are the data scopes to choose from; 'all' narrows nothing and is shown only if a key has it.
const scopesOf = (key?: ApiKey): ApiKey['data_scope'][] => (key?.data_scope === 'all' ? [...scopes, 'all'] : [...scopes])

type RolesProps = { id?: string; value?: number[]; onChange?: (ids: number[]) => void; of?: ApiKey; own: boolean }

// RoleSelect selects roles of a key: of a personal one from one's own, of another from those that the
// user can give.
function RoleSelect({ of, own, ...rest }: RolesProps) {
  const { info } = useAccount()
  const mine = info.info
  const roles = useChoices('role', !own)
  const held = named(mine.role_ids, mine.role_names).map((role) => ({ ...role, status: 1 }))
  const offered = own ? held : roles?.filter(({ id }) => id !== ownerRole)
  const options = optionsOf(offered, named(of?.role_ids, of?.role_names))
  return <Select {...rest} mode="multiple" showSearch={byLabel} placeholder={own ? t('keys.roles.all') : undefined} options={options} />
}

// Departments selects the departments of the data scope custom.
function Departments({ of, id, value, onChange }: { of?: ApiKey; id?: string; value?: number[]; onChange?: (ids: number[]) => void }) {
  const depts = useChoices('dept')
  return (
    <TreeSelect<number[], Offered>
      id={id}
      multiple
      disabled={!depts}
      showSearch={byText('name')}
      treeDefaultExpandAll
      treeData={treeOf(depts, depts && named(of?.dept_ids))}
      fieldNames={{ label: 'name', value: 'id', children: 'children' }}
      value={value}
      onChange={onChange}
    />
  )
}
