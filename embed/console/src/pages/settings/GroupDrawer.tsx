import { Alert, Form, Input, Switch } from 'antd'
import TextArea from 'antd/es/input/TextArea'
import { useState } from 'react'
import { useNavigate } from 'react-router'
import { get, post, put } from '../../api/request'
import type { SettingGroup } from '../../api/types'
import { t } from '../../i18n'
import { FormDrawer } from '../../ui/FormDrawer'
import { useAct } from '../../ui/useAct'
import { newest } from '../../ui/newest'
import type { Group } from './useSettings'

type Props = { open: boolean; group?: Group; builtin: boolean; load: () => Promise<unknown>; onClose: () => void }
type Stored = Omit<Group, 'settings'>
type Values = Pick<SettingGroup, 'key' | 'title' | 'remark'> & { public: boolean }

const valuesOf = ({ key, title, remark, public: open }: Stored): Values => ({ key, title, remark, public: open === 1 })

export function GroupDrawer({ open, group, builtin, load, onClose }: Props) {
  const [seen, setSeen] = useState<Stored>() // as it was when it was loaded again
  const { done } = useAct()
  const navigate = useNavigate()
  const of = newest<Stored>(seen, group)

  async function save(values: Values) {
    if (!of) {
      const made = await post<SettingGroup>('/system/setting-group', values, { quiet: true })
      await load()
      void navigate(`/system/setting/${made.key}?define=1`)
    } else {
      const made = await put<SettingGroup>(`/system/setting-group/${of.id}`, { ...values, updated_at: of.updated_at }, { quiet: true })
      await load()
      if (made.key !== of.key) void navigate(`/system/setting/${made.key}?define=1`)
    }
    done(t('saved'))
  }

  async function again() {
    const group = await get<SettingGroup>(`/system/setting-group/${of?.id}`)
    setSeen(group)
    return valuesOf(group)
  }

  return (
    <FormDrawer<Values>
      open={open}
      onClose={onClose}
      save={save}
      again={of && again}
      title={of ? t('settings.group.edit') : t('settings.group.create')}
      initial={of ? valuesOf(of) : { remark: '', public: false }}
    >
      {builtin && <Alert type="info" showIcon title={t('settings.group.builtin')} style={{ marginBottom: 16 }} />}
      <Form.Item name="title" label={t('settings.title')} rules={[{ required: true, message: t('form.required') }]}>
        <Input maxLength={100} />
      </Form.Item>
      <Form.Item name="key" label={t('settings.key')} extra={t('settings.group.key.text')} rules={[{ required: true, message: t('form.required') }]}>
        <Input maxLength={64} disabled={builtin} spellCheck={false} />
      </Form.Item>
      <Form.Item name="remark" label={t('describe')}>
        <TextArea maxLength={1000} rows={3} />
      </Form.Item>
      <Form.Item name="public" required label={t('settings.public')} extra={t('settings.public.text')} valuePropName="checked">
        <Switch />
      </Form.Item>
    </FormDrawer>
  )
}
