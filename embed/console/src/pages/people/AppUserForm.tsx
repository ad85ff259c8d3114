import { Form, Switch } from 'antd'
import { useRef } from 'react'
import type { AppUser, NewAppUser } from '../../api/types'
import { t } from '../../i18n'
import { FormDrawer } from '../../ui/FormDrawer'
import { type Chosen, FirstPassword, passwordOf } from './FirstPassword'
import { PersonFields } from './PersonFields'
import { useEditor } from '../../ui/useEditor'

type Values = { username: string; nickname: string; email: string; mobile: string; status: boolean } & Chosen

type Props = {
  open: boolean
  user?: AppUser // undefined to create one
  onClose: () => void
  onSaved: () => void
  onMade: (user: NewAppUser, password: string) => void // a generated password, shown once the drawer is closed
}

// AppUserForm creates or edits an app user.
export function AppUserForm({ open, user, onClose, onSaved, onMade }: Props) {
  const made = useRef<NewAppUser>(undefined)
  const editor = useEditor('/user/list', user, valuesOf)

  async function save({ generated, password, ...body }: Values) {
    if (user) await editor.change(body)
    else made.current = await editor.create({ ...body, password: passwordOf({ generated, password }) })
    onSaved()
  }

  function closed() {
    if (made.current?.password) onMade(made.current, made.current.password)
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
      {...editor.form({ status: true, generated: true })}
    >
      <PersonFields />
      {!user && <FirstPassword />}
      <Form.Item name="status" required label={t('enabled')} valuePropName="checked" extra={t('people.status.hint')}>
        <Switch />
      </Form.Item>
    </FormDrawer>
  )
}

function valuesOf({ username, nickname, email, mobile, status }: AppUser): Values {
  return { username, nickname, email, mobile, status: status === 1, generated: true }
}
