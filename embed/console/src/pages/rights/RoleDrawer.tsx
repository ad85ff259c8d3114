import { Form, Input, InputNumber, Switch } from 'antd'
import TextArea from 'antd/es/input/TextArea'
import { useRef } from 'react'
import { get, post, put } from '../../api/request'
import type { Role } from '../../api/types'
import { t } from '../../i18n'
import { FormDrawer } from '../../ui/FormDrawer'
import { useAct } from '../../ui/useAct'

type Values = Pick<Role, 'name' | 'description' | 'sort'> & { status: boolean }

type Props = {
  edits?: { role?: Role } // none while it is closed
  onClose: () => void
  again: (role: Role) => void // edits what was changed elsewhere
  saved: (role: Role, isNew: boolean) => Promise<void>
}

// RoleDrawer makes a role, or changes what it is called. What it grants has a drawer
// of its own.
export function RoleDrawer({ edits, onClose, again, saved }: Props) {
  const { done } = useAct()
  const last = useRef(edits) // also while it closes
  if (edits) last.current = edits
  const role = last.current?.role

  async function save(values: Values) {
    const record = role
      ? await put<Role>(`/admin/role/${role.id}`, { ...values, updated_at: role.updated_at }, { quiet: true })
      : await post<Role>('/admin/role', values, { quiet: true })
    done(t(role ? 'role.saved' : 'role.created', { name: record.name }))
    await saved(record, !role)
  }

  return (
    <FormDrawer<Values>
      title={role ? t('role.edit') : t('role.create')} open={Boolean(edits)} save={save} onClose={onClose}
      again={role && (async () => {
        const now = await get<Role>(`/admin/role/${role.id}`)
        again(now)
        return valuesOf(now)
      })}
      initial={role ? valuesOf(role) : { name: '', description: '', sort: 0, status: true }}
    >
      <Form.Item name="name" label={t('name')} rules={[{ required: true, whitespace: true, message: t('form.required') }]}><Input maxLength={64} /></Form.Item>
      <Form.Item name="description" label={t('describe')}><TextArea maxLength={1000} rows={4} /></Form.Item>
      <Form.Item name="sort" label={t('sort')} rules={[{ required: true, message: t('form.required') }]}><InputNumber min={-1_000_000} max={1_000_000} precision={0} style={{ width: 160 }} /></Form.Item>
      <Form.Item name="status" label={t('enabled')} required valuePropName="checked"><Switch /></Form.Item>
    </FormDrawer>
  )
}

const valuesOf = ({ name, description, sort, status }: Role): Values => ({ name, description, sort, status: status === 1 })
