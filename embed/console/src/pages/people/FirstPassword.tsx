import { Form, Radio } from 'antd'
import { Password } from '../../ui/Password'
import { t } from '../../i18n'
import { useMail } from '../../ui/useMail'
import { usePasswordLength } from '../../ui/usePasswordLength'

// Chosen is a typed password, or the request to generate one, or to invite the user to set one.
export type Chosen = { first: 'generated' | 'typed' | 'mail' | 'link'; password?: string }

export const passwordOf = ({ first, password }: Chosen): string | undefined => (first === 'typed' ? password : undefined)

// accessOf is how a new user gets access, for the API.
export const accessOf = (chosen: Chosen): { password?: string; invite?: 'mail' | 'link' } =>
  chosen.first === 'mail' || chosen.first === 'link' ? { invite: chosen.first } : { password: passwordOf(chosen) }

// FirstPassword selects whether the password is generated or typed or, for new users, set by the
// user after an invitation.
export function FirstPassword({ invites = false }: { invites?: boolean }) {
  const mail = useMail()
  const shortest = usePasswordLength()
  const options = (email: string) => {
    const off = mail === false ? t('people.mail.off') : email ? '' : t('people.password.mail.address')
    return [
      { value: 'generated', label: t('people.password.generated') },
      { value: 'typed', label: t('people.password.typed') },
      ...(invites
        ? [
            {
              value: 'mail',
              disabled: !!off,
              label: (
                <>
                  {t('people.password.mail')}
                  {off && <div className="second">{off}</div>}
                </>
              ),
            },
            { value: 'link', label: t('people.password.link') },
          ]
        : []),
    ]
  }
  return (
    <>
      <Form.Item noStyle dependencies={['email']}>
        {(form) => (
          <Form.Item name="first" required label={t('sign_in.password')}>
            <Radio.Group vertical options={options(((form.getFieldValue('email') as string | undefined) ?? '').trim())} />
          </Form.Item>
        )}
      </Form.Item>
      <Form.Item noStyle dependencies={['first']}>
        {(form) =>
          form.getFieldValue('first') === 'typed' && (
            <Form.Item
              name="password"
              label={t('people.password.new')}
              rules={[{ required: true, message: t('form.required') }]}
              extra={t('people.password.hint', { n: shortest })}
            >
              <Password autoComplete="new-password" />
            </Form.Item>
          )
        }
      </Form.Item>
    </>
  )
}
