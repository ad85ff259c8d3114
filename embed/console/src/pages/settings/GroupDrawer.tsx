import { Alert, Form, Input, Switch, Typography } from 'antd'
import TextArea from 'antd/es/input/TextArea'
import { useNavigate } from 'react-router'
import type { SettingGroup } from '../../api/types'
import { t } from '../../i18n'
import { FormDrawer } from '../../ui/FormDrawer'
import type { Group } from './useSettings'
import { useEditor } from '../../ui/useEditor'

type Props = { open: boolean; group?: Group; builtin: boolean; load: () => Promise<unknown>; onClose: () => void }
type Stored = Omit<Group, 'settings'>
type Values = Pick<SettingGroup, 'key' | 'title' | 'remark'> & { public: boolean }

const valuesOf = ({ key, title, remark, public: open }: Stored): Values => ({ key, title, remark, public: open === 1 })

export function GroupDrawer({ open, group, builtin, load, onClose }: Props) {
  const navigate = useNavigate()
  const { of, save: store, form } = useEditor('/system/setting-group', group as Stored | undefined, valuesOf)

  async function save(values: Values) {
    const stored = await store(values)
    await load()
    if (stored.key !== of?.key) void navigate(`/system/setting/${stored.key}?define=1`)
  }

  return (
    <FormDrawer<Values>
      history={of && { collection: 'setting_group', id: of.id }}
      open={open}
      onClose={onClose}
      save={save}
      title={of ? t('settings.group.edit') : t('settings.group.create')}
      {...form({ remark: '', public: false })}
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
      {of && (
        <Typography.Paragraph type="secondary">
          {t('settings.group.programs', { read: `system.setting.read.${of.key}`, secret: `system.setting.secret.${of.key}` })}
        </Typography.Paragraph>
      )}
    </FormDrawer>
  )
}
