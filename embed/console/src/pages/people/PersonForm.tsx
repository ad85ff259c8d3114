import { Form, Input, Select } from 'antd'
import { type ReactNode, useRef } from 'react'
import type { FieldForm, OneTimeLink } from '../../api/types'
import { useAccount } from '../../app/account'
import { t } from '../../i18n'
import { StatusField } from '../../ui/fields'
import { FormDrawer } from '../../ui/FormDrawer'
import { byLabel } from '../../ui/fold'
import { named, optionsOf } from '../../ui/offered'
import { useChoices } from '../../ui/useChoices'
import type { useEditor } from '../../ui/useEditor'
import { LazyInputs } from '../fields/LazyInputs'
import { textsOf } from '../fields/values'
import { type Chosen, FirstPassword } from './FirstPassword'
import type { Person } from './person'
import type { Realm } from './realm'

// Values are those of the form; only users of the backend have a sex and a department.
export type Values = {
  username: string
  nickname: string
  email: string
  mobile: string
  role_ids: number[]
  status: boolean
  password_sign_in: '' | 'on' | 'off'
  sex?: string
  dept_id?: number
} & Chosen

// Made is what a new person needs to sign in.
type Made = { password?: string; invitation?: OneTimeLink }

export type FormProps<P extends Person> = {
  open: boolean
  user?: P // undefined to create one
  custom: FieldForm[]
  invite?: boolean // whether to begin with an invitation
  onClose: () => void
  onSaved: () => void
  onMade?: (user: P & Made) => void // a person with a generated password or an invitation, shown once the drawer is closed
}

type Props<P extends Person> = FormProps<P> & {
  realm: Realm
  editor: Pick<ReturnType<typeof useEditor<Realm['path'], P, Values>>, 'of' | 'form'>
  save: (values: Values) => Promise<(P & Made) | undefined> // returns a new person
  blank?: Partial<Values> // of a new person
  roles: { extra?: string; placeholder: string; disabled?: boolean }
  before?: ReactNode // fields before the roles
  after?: ReactNode // fields after them
}

// PersonForm creates or edits a person of either realm.
export function PersonForm<P extends Person>({ realm, editor, save, blank, roles, before, after, ...props }: Props<P>) {
  const { open, user, custom, invite, onClose, onSaved, onMade } = props
  const { info, may } = useAccount()
  const made = useRef<P & Made>(undefined)
  const offered = useChoices(realm.choice, open && !roles.disabled)
  const own = realm.ours && user?.id === info.info.id

  function closed() {
    if (made.current?.password || made.current?.invitation) onMade?.(made.current)
    made.current = undefined
  }

  return (
    <FormDrawer<Values>
      history={user && { collection: realm.collection, id: user.id }}
      title={t(user ? realm.texts.edit : realm.texts.create)}
      open={open}
      onClose={onClose}
      onClosed={closed}
      save={async (values) => {
        made.current = await save(values)
        onSaved()
      }}
      {...editor.form({ status: true, password_sign_in: '', role_ids: [], first: invite ? 'link' : 'generated', ...blank, ...textsOf(custom) })}
    >
      <Form.Item
        name="username"
        label={t('sign_in.username')}
        rules={[{ required: true, whitespace: true, message: t('form.required') }]}
        extra={t('people.username.hint')}
      >
        <Input autoComplete="off" spellCheck={false} />
      </Form.Item>
      <Form.Item name="nickname" label={t('people.nickname')}>
        <Input autoComplete="off" />
      </Form.Item>
      <Form.Item name="email" label={t('people.email')}>
        <Input autoComplete="off" inputMode="email" />
      </Form.Item>
      <Form.Item name="mobile" label={t('people.mobile')}>
        <Input autoComplete="off" inputMode="tel" />
      </Form.Item>
      {!user && <FirstPassword invites={may(`${realm.invite}.create`)} />}
      {before}
      <Form.Item name="role_ids" label={t('people.roles')} extra={roles.extra}>
        <Select
          mode="multiple"
          loading={!offered && !roles.disabled}
          disabled={roles.disabled}
          showSearch={byLabel}
          placeholder={roles.placeholder}
          options={optionsOf(offered, named(user?.role_ids, user?.role_names))}
        />
      </Form.Item>
      {after}
      <Form.Item name="password_sign_in" required label={t('people.password_sign_in')} extra={t('people.password_sign_in.hint')}>
        <Select options={(['', 'on', 'off'] as const).map((value) => ({ value, label: t(`people.password_sign_in.${value || 'role'}`) }))} />
      </Form.Item>
      <StatusField extra={own ? t('people.own') : t('people.status.hint')} disabled={own} />
      <LazyInputs fields={custom} values={editor.of?.fields} />
    </FormDrawer>
  )
}

// valuesOf fills the form with a person, but for what only one realm has.
export const valuesOf = ({ username, nickname, email, mobile, role_ids, status, password_sign_in, fields }: Person, custom: FieldForm[]): Values => ({
  username,
  nickname,
  email,
  mobile,
  role_ids,
  status: status === 1,
  password_sign_in,
  first: 'generated',
  ...textsOf(custom, fields),
})
