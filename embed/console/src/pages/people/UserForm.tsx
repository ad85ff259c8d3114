import { Form, Select, Switch, TreeSelect } from 'antd'
import { useRef } from 'react'
import type { FieldForm, NewUser, User } from '../../api/types'
import { useAccount } from '../../app/account'
import { t } from '../../i18n'
import { FormDrawer } from '../../ui/FormDrawer'
import { LazyInputs } from '../fields/LazyInputs'
import { bodyOf, textsOf } from '../fields/values'
import { accessOf, type Chosen, FirstPassword } from './FirstPassword'
import { PersonFields } from './PersonFields'
import { sexes } from './person'
import { useChoices } from '../../ui/useChoices'
import { named, type Offered, optionsOf, treeOf } from '../../ui/offered'
import { byLabel } from '../../ui/fold'
import { useEditor } from '../../ui/useEditor'

type Values = {
  username: string
  nickname: string
  sex: string
  email: string
  mobile: string
  dept_id?: number
  role_ids: number[]
  status: boolean
} & Chosen

type Props = {
  open: boolean
  user?: User // undefined to create one
  own: boolean // whether it is the signed-in user
  custom: FieldForm[]
  dept: number // department of a new user
  invite?: boolean // whether to begin with an invitation
  onClose: () => void
  onSaved: () => void
  onMade: (user: NewUser) => void // a user with a generated password or an invitation, shown once the drawer is closed
}

// UserForm creates or edits a user.
export function UserForm({ open, user, own, custom, dept, invite, onClose, onSaved, onMade }: Props) {
  const { may } = useAccount()
  const made = useRef<NewUser>(undefined)
  const [depts, roles] = [useChoices('dept', open), useChoices('role', open)]
  const editor = useEditor('/admin/list', user, (of: User) => ({ ...valuesOf(of), ...textsOf(custom, of.fields) }))

  async function save({ first, password, sex, dept_id, ...rest }: Values) {
    const body = { ...bodyOf(rest, custom, editor.of?.fields), sex: Number(sex) as User['sex'], dept_id: dept_id ?? 0 }
    if (user) await editor.change(body)
    else made.current = await editor.create({ ...body, ...accessOf({ first, password }) })
    onSaved()
  }

  function closed() {
    if (made.current?.password || made.current?.invitation) onMade(made.current)
    made.current = undefined
  }

  return (
    <FormDrawer<Values>
      history={user && { collection: 'user', id: user.id }}
      title={t(user ? 'people.edit' : 'people.create')}
      open={open}
      onClose={onClose}
      onClosed={closed}
      save={save}
      {...editor.form({ sex: '0', status: true, role_ids: [], dept_id: dept || undefined, first: invite ? 'link' : 'generated', ...textsOf(custom) })}
    >
      <PersonFields />
      {!user && <FirstPassword invites={may('admin.invite.create')} />}
      <Form.Item name="dept_id" label={t('people.dept')}>
        <TreeSelect<number, Offered>
          allowClear
          loading={!depts}
          showSearch={{ treeNodeFilterProp: 'name' }}
          treeDefaultExpandedKeys={depts?.map((d) => d.id)}
          placeholder={t('people.dept.none')}
          treeData={treeOf(depts, user?.dept_id ? named([user.dept_id], [user.dept_name]) : [])}
          fieldNames={{ label: 'name', value: 'id', children: 'children' }}
        />
      </Form.Item>
      <Form.Item name="role_ids" label={t('people.roles')} extra={t('people.roles.hint')}>
        <Select
          mode="multiple"
          loading={!roles}
          showSearch={byLabel}
          placeholder={t('people.roles.none')}
          options={optionsOf(roles, named(user?.role_ids, user?.role_names))}
        />
      </Form.Item>
      <Form.Item name="sex" required label={t('people.sex')}>
        <Select options={sexes.map((value) => ({ value, label: t(`people.sex.${value}`) }))} />
      </Form.Item>
      <Form.Item name="status" required label={t('enabled')} valuePropName="checked" extra={own ? t('people.own') : t('people.status.hint')}>
        <Switch disabled={own} />
      </Form.Item>
      <LazyInputs fields={custom} values={editor.of?.fields} />
    </FormDrawer>
  )
}

function valuesOf(user: User): Values {
  return {
    username: user.username,
    nickname: user.nickname,
    sex: String(user.sex),
    email: user.email,
    mobile: user.mobile,
    dept_id: user.dept_id || undefined,
    role_ids: user.role_ids,
    status: user.status === 1,
    first: 'generated',
  }
}
