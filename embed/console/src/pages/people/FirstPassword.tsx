import { Form, Radio } from 'antd'
import Password from 'antd/es/input/Password'
import { t } from '../../i18n'

// Chosen is a typed password, or the request to generate one.
export type Chosen = { generated: boolean; password?: string }

export const passwordOf = ({ generated, password }: Chosen): string | undefined => (generated ? undefined : password)

// FirstPassword selects whether the password is generated or typed.
export function FirstPassword() {
  return (
    <>
      <Form.Item name="generated" required label={t('sign_in.password')}>
        <Radio.Group
          vertical
          options={[
            { value: true, label: t('people.password.generated') },
            { value: false, label: t('people.password.typed') },
          ]}
        />
      </Form.Item>
      <Form.Item noStyle dependencies={['generated']}>
        {(form) =>
          form.getFieldValue('generated') === false && (
            <Form.Item
              name="password"
              label={t('people.password.new')}
              rules={[{ required: true, message: t('form.required') }]}
              extra={t('people.password.hint')}
            >
              <Password autoComplete="new-password" />
            </Form.Item>
          )
        }
      </Form.Item>
    </>
  )
}
