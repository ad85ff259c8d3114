import { Flex, Form, Input, Radio, Switch } from 'antd'
import TextArea from 'antd/es/input/TextArea'
import type { Dict } from '../../api/types'
import { type Key, t } from '../../i18n'
import { StatusField } from '../../ui/fields'
import { FormDrawer } from '../../ui/FormDrawer'
import { Shown } from './Shown'
import { useEditor } from '../../ui/useEditor'

type Props = { open: boolean; dict?: Dict; onSaved: (d: Dict) => Promise<void>; onClose: () => void }
type Values = Pick<Dict, 'code' | 'name' | 'type' | 'describe'> & { status: boolean; public: boolean }

const types = ['default', 'badge', 'tag']

const valuesOf = ({ code, name, type, describe, ...d }: Dict): Values => ({
  code,
  name,
  type,
  describe,
  status: d.status === 1,
  public: d.public === 1,
})

export function DictDrawer({ open, dict, onSaved, onClose }: Props) {
  const { of, save: store, form } = useEditor('/system/dict', dict, valuesOf)

  async function save(values: Values) {
    const stored = await store(values)
    await onSaved(stored)
  }

  const required = [{ required: true, message: t('form.required') }]
  return (
    <FormDrawer<Values>
      history={of && { collection: 'dict', id: of.id }}
      open={open}
      onClose={onClose}
      save={save}
      title={of ? t('dicts.edit', { name: of.code }) : t('dicts.create')}
      {...form({ type: 'default', describe: '', status: true, public: false })}
    >
      <Form.Item name="name" label={t('name')} rules={required}>
        <Input maxLength={100} />
      </Form.Item>
      <Form.Item name="code" label={t('dicts.code')} extra={t('dicts.code.text')} rules={required}>
        <Input maxLength={64} spellCheck={false} />
      </Form.Item>
      <Form.Item name="type" required label={t('dicts.type')}>
        <Radio.Group>
          <Flex vertical gap={8}>
            {types.map((type) => (
              <Radio key={type} value={type}>
                <Flex gap="4px 16px" wrap>
                  <span style={{ minWidth: 96 }}>{t(`dicts.type.${type}` as Key)}</span>
                  <Shown type={type} status="success" label={t('dicts.example.yes')} />
                  <Shown type={type} status="error" label={t('dicts.example.no')} />
                </Flex>
              </Radio>
            ))}
          </Flex>
        </Radio.Group>
      </Form.Item>
      <Form.Item name="describe" label={t('describe')}>
        <TextArea maxLength={1000} rows={3} />
      </Form.Item>
      <StatusField extra={t('dicts.status.text')} />
      <Form.Item name="public" required label={t('dicts.public')} extra={t('dicts.public.text')} valuePropName="checked">
        <Switch />
      </Form.Item>
    </FormDrawer>
  )
}
