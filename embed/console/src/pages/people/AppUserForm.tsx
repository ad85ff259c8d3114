import { Form, Switch } from 'antd'
import { useRef } from 'react'
import type { AppUser, NewAppUser } from '../../api/types'
import { useAccount } from '../../app/account'
import { t } from '../../i18n'
import { FormDrawer } from '../../ui/FormDrawer'
import { accessOf, type Chosen, FirstPassword } from './FirstPassword'
import { PersonFields } from './PersonFields'
import { useEditor } from '../../ui/useEditor'

type Values = { username: string; nickname: string; email: string; mobile: string; status: boolean } & Chosen

type Props = {
  open: boolean
  user?: AppUser // undefined to create one
  onClose: () => void
  onSaved: () => void
  onMade: (user: NewAppUser) => void // a user with a generated password or an invitation, shown once the drawer is closed
}

// AppUserForm creates or edits an app user.
export function AppUserForm({ open, user, onClose, onSaved, onMade }: Props) {
  const { may } = useAccount()
  const made = useRef<NewAppUser>(undefined)
  const editor = useEditor('/user/list', user, valuesOf)

  async function save({ first, password, ...body }: Values) {
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
      {...editor.form({ status: true, first: 'generated' })}
    >
      <PersonFields />
      {!user && <FirstPassword invites={may('user.invite.create')} />}
      <Form.Item name="status" required label={t('enabled')} valuePropName="checked" extra={t('people.status.hint')}>
        <Switch />
      </Form.Item>
    </FormDrawer>
  )
}

function valuesOf({ username, nickname, email, mobile, status }: AppUser): Values {
  return { username, nickname, email, mobile, status: status === 1, first: 'generated' }
}
