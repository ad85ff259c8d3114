import { Form, Input } from 'antd'
import { t } from '../../i18n'

// PersonFields are the fields that users of both realms have.
export function PersonFields() {
  return (
    <>
      <Form.Item
        name="username"
        label={t('sign_in.username')}
        rules={[{ required: true, whitespace: true, message: t('form.required') }]}
        extra={t('people.username.hint')}
      >
        <Input autoComplete="off" spellCheck={false} />
      </Form.Item>
      <Form.Item name="nickname" label={t('people.nickname')}>
        <Input autoComplete="off" />
      </Form.Item>
      <Form.Item name="email" label={t('people.email')}>
        <Input autoComplete="off" inputMode="email" />
      </Form.Item>
      <Form.Item name="mobile" label={t('people.mobile')}>
        <Input autoComplete="off" inputMode="tel" />
      </Form.Item>
    </>
  )
}
