import type { AppUser } from '../../api/types'
import { useAccount } from '../../app/account'
import { t } from '../../i18n'
import { useEditor } from '../../ui/useEditor'
import { bodyOf } from '../fields/values'
import { accessOf } from './FirstPassword'
import { type FormProps, PersonForm, type Values, valuesOf } from './PersonForm'
import { app } from './realm'

// AppUserForm creates or edits an app user. Giving roles takes a permission of its own.
export function AppUserForm(props: FormProps<AppUser>) {
  const { user, custom } = props
  const gives = useAccount().may('user.list.role')
  const editor = useEditor(app.path, user, (of: AppUser): Values => valuesOf(of, custom))

  async function save({ first, password, role_ids, ...rest }: Values) {
    const own = bodyOf(rest, custom, editor.of?.fields)
    const body = gives ? { ...own, role_ids } : own
    if (!user) return editor.create({ ...body, ...accessOf({ first, password }) })
    await editor.change(body)
  }

  return <PersonForm<AppUser> {...props} realm={app} editor={editor} save={save} roles={{ placeholder: t('none'), disabled: !gives }} />
}
