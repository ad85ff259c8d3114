import { Flex, Form, Input, Radio, Switch } from 'antd'
import TextArea from 'antd/es/input/TextArea'
import { useState } from 'react'
import { get, post, put } from '../../api/request'
import type { Dict } from '../../api/types'
import { type Key, t } from '../../i18n'
import { FormDrawer } from '../../ui/FormDrawer'
import { useAct } from '../../ui/useAct'
import { newest } from '../../ui/newest'
import { Shown } from './Shown'

type Props = { open: boolean; dict?: Dict; onSaved: (d: Dict) => Promise<void>; onClose: () => void }
type Values = Pick<Dict, 'code' | 'name' | 'type' | 'describe'> & { status: boolean }

const types = ['default', 'badge', 'tag']

const valuesOf = ({ code, name, type, describe, status }: Dict): Values => ({ code, name, type, describe, status: status === 1 })

export function DictDrawer({ open, dict, onSaved, onClose }: Props) {
  const [seen, setSeen] = useState<Dict>() // as it was when it was loaded again
  const of = newest(seen, dict)
  const { done } = useAct()

  async function save(values: Values) {
    const stored = of
      ? await put<Dict>(`/system/dict/${of.id}`, { ...values, updated_at: of.updated_at }, { quiet: true })
      : await post<Dict>('/system/dict', values, { quiet: true })
    done(t('saved'))
    await onSaved(stored)
  }

  async function again() {
    const dict = await get<Dict>(`/system/dict/${of?.id}`)
    setSeen(dict)
    return valuesOf(dict)
  }

  const required = [{ required: true, message: t('form.required') }]
  return (
    <FormDrawer<Values>
      open={open}
      onClose={onClose}
      save={save}
      again={of && again}
      title={of ? t('dicts.edit', { name: of.code }) : t('dicts.create')}
      initial={of ? valuesOf(of) : { type: 'default', describe: '', status: true }}
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
      <Form.Item name="status" required label={t('enabled')} extra={t('dicts.status.text')} valuePropName="checked">
        <Switch />
      </Form.Item>
    </FormDrawer>
  )
}
