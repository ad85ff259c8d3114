import { Form, Input, Switch } from 'antd'
import { useRef } from 'react'
import { useAccount } from '../../app/account'
import { t } from '../../i18n'
import { StatusField } from '../../ui/fields'
import { FormDrawer } from '../../ui/FormDrawer'
import { useEditor } from '../../ui/useEditor'
import type { Webhook, WebhookWithSecret } from './hook'
import { TypesSelect } from './TypesSelect'

type Values = Pick<Webhook, 'url' | 'description' | 'types'> & { status: boolean; take?: boolean }

type Props = {
  open: boolean
  hook?: Webhook // undefined to create one
  onClose: () => void
  onSaved: () => Promise<void>
  onSecret: (hook: WebhookWithSecret) => void // a new secret, shown once the drawer is closed
}

const valuesOf = ({ url, description, types, status }: Webhook): Values => ({ url, description, types, status: status === 1, take: false })

// WebhookForm creates or edits a webhook.
export function WebhookForm({ open, hook, onClose, onSaved, onSecret }: Props) {
  const { of, save: store, form } = useEditor('/system/webhook', hook, valuesOf)
  const { may, info } = useAccount()
  const own = info.info.id
  const made = useRef<WebhookWithSecret>(undefined)

  async function save({ take, ...values }: Values) {
    made.current = await store(take ? { ...values, owner_id: own } : values)
    await onSaved()
  }

  function closed() {
    if (made.current?.secret) onSecret(made.current)
    made.current = undefined
  }

  const required = [{ required: true, message: t('form.required') }]
  return (
    <FormDrawer<Values>
      history={of && { collection: 'webhook', id: of.id }}
      title={t(of ? 'webhooks.edit' : 'webhooks.create')}
      open={open}
      onClose={onClose}
      onClosed={closed}
      save={save}
      {...form({ url: '', description: '', types: [], status: true })}
    >
      <Form.Item noStyle dependencies={['url']}>
        {({ getFieldValue }) => (
          <Form.Item
            name="url"
            label={t('webhooks.url')}
            rules={required}
            extra={t(of && getFieldValue('url') !== of.url ? 'webhooks.url.new' : 'webhooks.url.hint')}
          >
            <Input maxLength={2000} spellCheck={false} inputMode="url" placeholder="https://example.com/webhook" />
          </Form.Item>
        )}
      </Form.Item>
      <Form.Item name="description" label={t('describe')}>
        <Input maxLength={200} />
      </Form.Item>
      <Form.Item
        name="types"
        label={t('webhooks.types')}
        rules={required}
        extra={t(of && of.owner_id !== own ? 'webhooks.types.hint.owner' : 'webhooks.types.hint')}
      >
        <TypesSelect />
      </Form.Item>
      {of && of.owner_id !== own && may('system.webhook.create') && (
        <Form.Item name="take" label={t('webhooks.take')} valuePropName="checked" extra={t('webhooks.take.hint')}>
          <Switch />
        </Form.Item>
      )}
      <StatusField extra={t('webhooks.status.hint')} />
    </FormDrawer>
  )
}
