import { AutoComplete, Form, type FormInstance, Input } from 'antd'
import { useEffect, useState } from 'react'
import { get } from '../../api/request'
import type { Dept, DeptNode, User } from '../../api/types'
import { useAccount } from '../../app/account'
import { t } from '../../i18n'
import { NameField, StatusField } from '../../ui/fields'
import { FormDrawer } from '../../ui/FormDrawer'
import { useAction } from '../../ui/useAction'
import { useLastValue } from '../../ui/useLastValue'
import { lastSort, ParentSelect } from './ParentSelect'
import type { NodeProps } from './useEdits'
import { useEditor } from '../../ui/useEditor'

const nameOf = (node: DeptNode) => node.name

type Values = Pick<Dept, 'parent_id' | 'name' | 'code' | 'leader' | 'phone' | 'email'> & { status: boolean }

// DeptDrawer creates or edits a department.
export function DeptDrawer({ edits, tree, onClose, reload, saved }: NodeProps<DeptNode>) {
  const { notify } = useAction()
  const kept = useLastValue(edits)
  const parent = kept?.parent
  const { of: node, create, change, form: filled } = useEditor('/admin/dept', kept?.node, valuesOf, reload)

  async function save(values: Values) {
    const record = node ? await change(values) : await create({ ...values, sort: lastSort(tree, values.parent_id) })
    if (!node) notify(t('rule.created', { name: record.name }))
    await saved(record.id)
  }

  return (
    <FormDrawer<Values>
      history={node && { collection: 'dept', id: node.id }}
      title={node ? t('dept.edit') : t('dept.create')}
      open={Boolean(edits)}
      save={save}
      onClose={onClose}
      {...filled({ parent_id: parent?.id ?? 0, name: '', code: '', leader: '', phone: '', email: '', status: true })}
    >
      {(form) => (
        <>
          <NameField />
          <ParentSelect tree={tree} self={node?.id} name={nameOf} />
          <Form.Item
            name="code"
            label={t('dept.code')}
            extra={t('dept.code.help')}
            rules={[{ pattern: /^[a-z0-9][a-z0-9._-]*$/, message: t('dept.code.form') }]}
          >
            <Input maxLength={64} />
          </Form.Item>
          <Leader form={form} />
          <Form.Item name="phone" label={t('dept.phone')}>
            <Input maxLength={32} type="tel" />
          </Form.Item>
          <Form.Item name="email" label={t('dept.email')}>
            <Input maxLength={254} type="email" />
          </Form.Item>
          <StatusField extra={t('dept.status.hint')} />
        </>
      )}
    </FormDrawer>
  )
}

const valuesOf = ({ parent_id, name, code, leader, phone, email, status }: DeptNode): Values => ({
  parent_id,
  name,
  code,
  leader,
  phone,
  email,
  status: status === 1,
})

// Leader is a name. Users who can list users select one, which fills in an empty email and
// phone.
function Leader({ form }: { form: FormInstance<Values> }) {
  const { may } = useAccount()
  const able = may('admin.list.query')
  const [search, setSearch] = useState('')
  const [found, setFound] = useState<User[]>([])
  useEffect(() => {
    if (!able || !search.trim()) {
      // biome-ignore lint/nursery/useReactCompiler: without a search there is nothing to request
      setFound([])
      return
    }
    const question = new AbortController()
    const wait = setTimeout(() => {
      get('/admin/list', { keywordSearch: search.trim(), pageSize: 10 }, { signal: question.signal, quiet: true }).then(
        (page) => setFound(page.data),
        () => {},
      )
    }, 250)
    return () => {
      clearTimeout(wait)
      question.abort()
    }
  }, [able, search])

  function choose(user: User) {
    for (const [field, value] of [
      ['phone', user.mobile],
      ['email', user.email],
    ] as const) {
      if (!form.getFieldValue(field)) form.setFieldValue(field, value)
    }
  }

  return (
    <Form.Item name="leader" label={t('dept.leader')} extra={able ? t('dept.leader.help') : undefined}>
      <AutoComplete
        maxLength={64}
        showSearch={{ onSearch: setSearch, filterOption: false }}
        options={found.map((user) => ({
          key: user.id,
          value: user.nickname || user.username,
          label: user.nickname ? `${user.nickname} (${user.username})` : user.username,
          user,
        }))}
        onSelect={(_, option) => choose((option as { user: User }).user)}
      />
    </Form.Item>
  )
}
