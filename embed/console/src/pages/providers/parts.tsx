import { Checkbox, Form, Select, Switch, Typography } from 'antd'
import { Password } from '../../ui/Password'
import { type ReactNode, useId } from 'react'
import { t } from '../../i18n'

// Parts of the form of a provider.

export const required = () => [{ required: true, whitespace: true, message: t('form.required') }]

export function Group({ title, children }: { title: string; children: ReactNode }) {
  const id = useId()
  return (
    <section aria-labelledby={id} style={{ marginBottom: 32 }}>
      <Typography.Title id={id} level={2} style={{ fontSize: 16, margin: '0 0 12px' }}>
        {title}
      </Typography.Title>
      {children}
    </section>
  )
}

// Secret is a secret that is never shown. A stored one stays until another is entered or it is removed.
export function Secret({ stored, label, hint }: { stored: boolean; label: string; hint: string }) {
  return (
    <>
      <Form.Item name="client_secret" label={label} extra={stored ? t('providers.secret.keep') : hint}>
        <Password maxLength={4000} autoComplete="new-password" placeholder={stored ? '••••••••' : undefined} />
      </Form.Item>
      {stored && (
        <Form.Item noStyle dependencies={['client_secret']}>
          {({ getFieldValue }) => (
            <Form.Item name="remove_secret" valuePropName="checked">
              <Checkbox disabled={Boolean(getFieldValue('client_secret'))}>{t('providers.secret.remove')}</Checkbox>
            </Form.Item>
          )}
        </Form.Item>
      )}
    </>
  )
}

export function Toggle({ name, label, extra }: { name: string; label: string; extra: string }) {
  return (
    <Form.Item name={name} label={label} required valuePropName="checked" extra={extra}>
      <Switch />
    </Form.Item>
  )
}

// Tags is a list of words.
export function Tags({ most, ...rest }: { most: number; placeholder?: string; id?: string; value?: string[]; onChange?: (list: string[]) => void }) {
  return <Select {...rest} mode="tags" open={false} suffixIcon={null} tokenSeparators={[',', ';', ' ', '\n']} maxCount={most} />
}
