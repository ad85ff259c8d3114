import { Form, Select, Switch } from 'antd'
import { useRef } from 'react'
import type { AppUser, FieldForm, NewAppUser } from '../../api/types'
import { useAccount } from '../../app/account'
import { t } from '../../i18n'
import { FormDrawer } from '../../ui/FormDrawer'
import { LazyInputs } from '../fields/LazyInputs'
import { bodyOf, textsOf } from '../fields/values'
import { accessOf, type Chosen, FirstPassword } from './FirstPassword'
import { PersonFields } from './PersonFields'
import { useChoices } from '../../ui/useChoices'
import { named, optionsOf } from '../../ui/offered'
import { byLabel } from '../../ui/fold'
import { useEditor } from '../../ui/useEditor'

type Values = { username: string; nickname: string; email: string; mobile: string; role_ids: number[]; status: boolean } & Chosen

type Props = {
  open: boolean
  user?: AppUser // undefined to create one
  custom: FieldForm[]
  invite?: boolean // whether to begin with an invitation
  onClose: () => void
  onSaved: () => void
  onMade: (user: NewAppUser) => void // a user with a generated password or an invitation, shown once the drawer is closed
}

// AppUserForm creates or edits an app user.
export function AppUserForm({ open, user, custom, invite, onClose, onSaved, onMade }: Props) {
  const { may } = useAccount()
  const made = useRef<NewAppUser>(undefined)
  const roles = useChoices('app_role', open)
  const editor = useEditor('/user/list', user, (of: AppUser) => ({ ...valuesOf(of), ...textsOf(custom, of.fields) }))

  async function save({ first, password, role_ids, ...rest }: Values) {
    const own = bodyOf(rest, custom, editor.of?.fields)
    const body = may('user.list.role') ? { ...own, role_ids } : own
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
      history={user && { collection: 'app_user', id: user.id }}
      title={t(user ? 'people.app.edit' : 'people.app.create')}
      open={open}
      onClose={onClose}
      onClosed={closed}
      save={save}
      {...editor.form({ status: true, role_ids: [], first: invite ? 'link' : 'generated', ...textsOf(custom) })}
    >
      <PersonFields />
      {!user && <FirstPassword invites={may('user.invite.create')} />}
      <Form.Item name="role_ids" label={t('people.roles')}>
        <Select
          mode="multiple"
          loading={!roles}
          disabled={!may('user.list.role')}
          showSearch={byLabel}
          placeholder={t('none')}
          options={optionsOf(roles, named(user?.role_ids, user?.role_names))}
        />
      </Form.Item>
      <Form.Item name="status" required label={t('enabled')} valuePropName="checked" extra={t('people.status.hint')}>
        <Switch />
      </Form.Item>
      <LazyInputs fields={custom} values={editor.of?.fields} />
    </FormDrawer>
  )
}

function valuesOf({ username, nickname, email, mobile, role_ids, status }: AppUser): Values {
  return { username, nickname, email, mobile, role_ids, status: status === 1, first: 'generated' }
}
