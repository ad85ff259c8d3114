import { Alert, Button, Form, Input, Modal } from 'antd'
import { useEffect, useState } from 'react'
import { Failure, post } from '../../api/request'
import type { MailTest } from '../../api/types'
import { useAccount } from '../../app/account'
import { t } from '../../i18n'
import { faults } from '../../ui/faults'
import { duration } from '../../ui/format'
import { Said } from './Said'

type Props = { open: boolean; onClose: () => void }

// TestMail sends a test mail with the saved settings, and shows what the mail server says.
export function TestMail({ open, onClose }: Props) {
  const { info } = useAccount()
  const [form] = Form.useForm<{ email: string }>()
  const [result, setResult] = useState<MailTest>()
  const [problem, setProblem] = useState('')
  const [busy, setBusy] = useState(false)
  useEffect(() => {
    if (!open) return
    form.resetFields()
    // biome-ignore lint/nursery/useReactCompiler: the dialog opens as new
    setResult(undefined)
    setProblem('')
  }, [open, form])

  async function send({ email }: { email: string }) {
    setBusy(true)
    setResult(undefined)
    setProblem('')
    try {
      setResult(await post('/system/mail-test', { email: email.trim() }, { quiet: true }))
    } catch (cause) {
      if (!(cause instanceof Failure)) throw cause
      setProblem(faults(form, cause))
    } finally {
      setBusy(false)
    }
  }

  return (
    <Modal
      title={t('mail.test')}
      open={open}
      onCancel={onClose}
      closable={false}
      destroyOnHidden
      footer={[
        <Button key="close" onClick={onClose}>
          {t('close')}
        </Button>,
        <Button key="send" type="primary" loading={busy} onClick={() => form.submit()}>
          {t('mail.test.send')}
        </Button>,
      ]}
    >
      <p style={{ marginTop: 0 }}>{t('mail.test.text')}</p>
      <Form form={form} layout="vertical" requiredMark="optional" initialValues={{ email: info.info.email }} onFinish={(values) => void send(values)}>
        <Form.Item name="email" label={t('mail.address')} rules={[{ required: true, whitespace: true, message: t('form.required') }]}>
          <Input inputMode="email" autoComplete="email" spellCheck={false} />
        </Form.Item>
        <button type="submit" hidden />
      </Form>
      <div aria-live="polite">
        {problem && <Alert type="error" showIcon title={problem} />}
        {result && (
          <Alert
            type={result.sent ? 'success' : 'error'}
            showIcon
            title={result.sent ? t('mail.test.sent', { time: duration(result.took_ms) }) : t(`mail.stage.${result.stage || 'connect'}`)}
            description={result.response && <Said text={result.response} />}
          />
        )}
      </div>
    </Modal>
  )
}
