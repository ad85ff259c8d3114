import { Form, Select, TreeSelect } from 'antd'
import type { User } from '../../api/types'
import { t } from '../../i18n'
import { named, type Offered, treeOf } from '../../ui/offered'
import { useChoices } from '../../ui/useChoices'
import { useEditor } from '../../ui/useEditor'
import { bodyOf } from '../fields/values'
import { accessOf } from './FirstPassword'
import { type FormProps, PersonForm, type Values, valuesOf } from './PersonForm'
import { sexes } from './person'
import { backend } from './realm'
import { byText } from '../../ui/fold'

type Props = FormProps<User> & { dept?: number } // department of a new user

// UserForm creates or edits a user, who has a sex and can be in a department.
export function UserForm({ dept, ...props }: Props) {
  const { open, user, custom } = props
  const depts = useChoices('dept', open)
  const editor = useEditor(backend.path, user, (of: User): Values => ({ ...valuesOf(of, custom), sex: String(of.sex), dept_id: of.dept_id || undefined }))

  async function save({ first, password, sex, dept_id, ...rest }: Values) {
    const body = { ...bodyOf(rest, custom, editor.of?.fields), sex: Number(sex) as User['sex'], dept_id: dept_id ?? 0 }
    if (!user) return editor.create({ ...body, ...accessOf({ first, password }) })
    await editor.change(body)
  }

  return (
    <PersonForm<User>
      {...props}
      realm={backend}
      editor={editor}
      save={save}
      blank={{ sex: '0', dept_id: dept || undefined }}
      roles={{ extra: t('people.roles.hint'), placeholder: t('people.roles.none') }}
      before={
        <Form.Item name="dept_id" label={t('people.dept')}>
          <TreeSelect<number, Offered>
            allowClear
            loading={!depts}
            showSearch={byText('name')}
            treeDefaultExpandedKeys={depts?.map((d) => d.id)}
            placeholder={t('people.dept.none')}
            treeData={treeOf(depts, user?.dept_id ? named([user.dept_id], [user.dept_name]) : [])}
            fieldNames={{ label: 'name', value: 'id', children: 'children' }}
          />
        </Form.Item>
      }
      after={
        <Form.Item name="sex" required label={t('people.sex')}>
          <Select options={sexes.map((value) => ({ value, label: t(`people.sex.${value}`) }))} />
        </Form.Item>
      }
    />
  )
}
