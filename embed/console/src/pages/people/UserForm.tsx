import { Form, Select, Switch, TreeSelect } from 'antd'
import { useRef } from 'react'
import type { DeptNode, FieldForm, NewUser, Role, User } from '../../api/types'
import { useAccount } from '../../app/account'
import { t } from '../../i18n'
import { FormDrawer } from '../../ui/FormDrawer'
import { LazyInputs } from '../fields/LazyInputs'
import { bodyOf, textsOf } from '../fields/values'
import { accessOf, type Chosen, FirstPassword } from './FirstPassword'
import { PersonFields } from './PersonFields'
import { sexes } from './person'
import { optionsOf } from './roles'
import { useEditor } from '../../ui/useEditor'
import { byLabel } from '../../ui/fold'

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
  depts?: DeptNode[] // undefined without permission to list them
  roles?: Role[]
  custom: FieldForm[]
  dept: number // department of a new user
  onClose: () => void
  onSaved: () => void
  onMade: (user: NewUser) => void // a user with a generated password or an invitation, shown once the drawer is closed
}

// UserForm creates or edits a user.
export function UserForm({ open, user, own, depts, roles, custom, dept, onClose, onSaved, onMade }: Props) {
  const { may } = useAccount()
  const made = useRef<NewUser>(undefined)
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
      {...editor.form({ sex: '0', status: true, role_ids: [], dept_id: dept || undefined, first: 'generated', ...textsOf(custom) })}
    >
      <PersonFields />
      {!user && <FirstPassword invites={may('admin.invite.create')} />}
      <Form.Item name="dept_id" label={t('people.dept')} extra={!depts && t('people.depts.hidden')}>
        <TreeSelect<number, DeptNode>
          allowClear
          disabled={!depts}
          showSearch={{ treeNodeFilterProp: 'name' }}
          treeDefaultExpandedKeys={depts?.map((d) => d.id)}
          placeholder={t('people.dept.none')}
          treeData={depts ?? known(user)}
          fieldNames={{ label: 'name', value: 'id', children: 'children' }}
        />
      </Form.Item>
      <Form.Item name="role_ids" label={t('people.roles')} extra={roles ? t('people.roles.hint') : t('people.roles.hidden')}>
        <Select mode="multiple" disabled={!roles} showSearch={byLabel} placeholder={t('people.roles.none')} options={optionsOf(roles, user)} />
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

// known is the user's department, whose name is known even without permission to list
// departments.
function known(user?: User): DeptNode[] {
  return user?.dept_id ? [{ id: user.dept_id, name: user.dept_name } as DeptNode] : []
}
