import { Alert, Form, Input, Switch } from 'antd'
import { useState } from 'react'
import { useNavigate } from 'react-router'
import { get, post, put } from '../../api/request'
import type { SettingGroup } from '../../api/types'
import { t } from '../../i18n'
import { FormDrawer } from '../../ui/FormDrawer'
import { useAct } from '../../ui/useAct'
import { newest, useStale } from '../../ui/useStale'
import type { Group } from './useSettings'

type Props = { open: boolean; group?: Group; builtin: boolean; load: () => Promise<unknown>; onClose: () => void }
type Stored = Omit<Group, 'settings'>
type Values = Pick<SettingGroup, 'key' | 'title' | 'remark'> & { public: boolean }

export function GroupDrawer({ open, group, builtin, load, onClose }: Props) {
  const [fresh, setFresh] = useState<Stored>()
  const stale = useStale()
  const { done } = useAct()
  const navigate = useNavigate()
  const of = newest<Stored>(fresh, group)

  async function save(values: Values) {
    if (!of) {
      const made = await post<SettingGroup>('/system/setting-group', values, { quiet: true })
      await load()
      void navigate(`/system/setting/${made.key}?define=1`)
    } else {
      const made = await put<SettingGroup>(`/system/setting-group/${of.id}`, { ...values, updated_at: of.updated_at }, { quiet: true })
        .catch((cause) => stale(cause, async () => setFresh(await get<SettingGroup>(`/system/setting-group/${of.id}`))))
      await load()
      if (made.key !== of.key) void navigate(`/system/setting/${made.key}?define=1`)
    }
    done(t('saved'))
  }

  return (
    <FormDrawer<Values>
      key={`${of?.id} ${of?.updated_at}`} open={open} onClose={onClose} save={save} title={of ? t('settings.group.edit') : t('settings.group.create')}
      initial={of ? { key: of.key, title: of.title, remark: of.remark, public: of.public === 1 } : { remark: '', public: false }}
    >
      {builtin && <Alert type="info" showIcon title={t('settings.group.builtin')} style={{ marginBottom: 16 }} />}
      <Form.Item name="title" label={t('settings.title')} rules={[{ required: true, message: t('form.required') }]}><Input maxLength={100} /></Form.Item>
      <Form.Item name="key" label={t('settings.key')} extra={t('settings.group.key.text')} rules={[{ required: true, message: t('form.required') }]}><Input maxLength={64} disabled={builtin} spellCheck={false} /></Form.Item>
      <Form.Item name="remark" label={t('describe')}><Input.TextArea maxLength={1000} rows={3} /></Form.Item>
      <Form.Item name="public" required label={t('settings.public')} extra={t('settings.public.text')} valuePropName="checked"><Switch /></Form.Item>
    </FormDrawer>
  )
}
