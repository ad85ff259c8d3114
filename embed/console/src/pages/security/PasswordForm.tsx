import { Alert, Button, Form, Typography } from 'antd'
import { Password } from '../../ui/Password'
import { useState } from 'react'
import { Failure, put } from '../../api/request'
import { useAccount } from '../../app/account'
import { t } from '../../i18n'
import { faults } from '../../ui/faults'
import { Strength } from '../../ui/Strength'
import { usePasswordLength } from '../../ui/usePasswordLength'
import { useAction } from '../../ui/useAction'

type Values = { old_password: string; new_password: string; again: string }

// PasswordForm changes the user's own password. The server checks its rules.
export function PasswordForm() {
  const { info } = useAccount().info
  const { notify } = useAction()
  const shortest = usePasswordLength()
  const [form] = Form.useForm<Values>()
  const typed = Form.useWatch('new_password', form)
  const [problem, setProblem] = useState('')
  const [busy, setBusy] = useState(false)

  async function save({ old_password, new_password }: Values) {
    setBusy(true)
    setProblem('')
    try {
      await put('/admin/password', { old_password, new_password }, { quiet: true })
      form.resetFields()
      notify(t('password.changed'))
    } catch (cause) {
      if (!(cause instanceof Failure)) throw cause
      setProblem(faults(form, cause))
    } finally {
      setBusy(false)
    }
  }

  const required = { required: true, message: t('form.required') }
  return (
    <Form<Values> form={form} layout="vertical" requiredMark={false} onFinish={(values) => void save(values)} style={{ maxWidth: 400 }}>
      <Typography.Paragraph type="secondary">{t('password.others')}</Typography.Paragraph>
      {problem && <Alert type="error" showIcon title={problem} style={{ marginBottom: 16 }} />}
      <input type="text" name="username" autoComplete="username" value={info.username} readOnly hidden />
      <Form.Item name="old_password" label={t('password.old')} rules={[required]}>
        <Password autoComplete="current-password" />
      </Form.Item>
      <Form.Item name="new_password" label={t('password.new')} rules={[required]} extra={t('password.rules', { n: shortest })}>
        <Password autoComplete="new-password" />
      </Form.Item>
      <div style={{ marginTop: -16, paddingBottom: 16 }}>
        <Strength password={typed ?? ''} shortest={shortest} own={[info.username, info.nickname, info.email]} />
      </div>
      <Form.Item
        name="again"
        label={t('password.again')}
        dependencies={['new_password']}
        rules={[
          required,
          ({ getFieldValue }) => ({
            validator: (_, value) => (!value || value === getFieldValue('new_password') ? Promise.resolve() : Promise.reject(new Error(t('password.differ')))),
          }),
        ]}
      >
        <Password autoComplete="new-password" />
      </Form.Item>
      <Button type="primary" htmlType="submit" loading={busy}>
        {t('password.change')}
      </Button>
    </Form>
  )
}
