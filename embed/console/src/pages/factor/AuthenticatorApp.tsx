import { Alert, Button, Flex, Form, Input, QRCode, Tag, Typography } from 'antd'
import { useState } from 'react'
import { del, Failure, post, put } from '../../api/request'
import { noticeShown } from '../../api/saved-notice'
import type { AuthenticatorApp as App, SecondFactor as State } from '../../api/types'
import { t } from '../../i18n'
import { Copy } from '../../ui/Copy'
import { faults } from '../../ui/faults'
import { Time } from '../../ui/Time'
import { useAction } from '../../ui/useAction'

type Props = {
  state: State
  only: boolean // there is no other second factor
  reload: () => Promise<void>
  onCodes: (codes: string[]) => void
}

// AuthenticatorApp sets up and removes the user's authenticator app.
export function AuthenticatorApp({ state, only, reload, onCodes }: Props) {
  const { confirm, notify } = useAction()
  const [app, setApp] = useState<App>()
  const [busy, setBusy] = useState(false)

  async function setUp() {
    setBusy(true)
    try {
      setApp(await post('/admin/account/totp'))
      noticeShown() // it is not on yet
    } finally {
      setBusy(false)
    }
  }

  async function remove() {
    const question = only
      ? { title: t('factor.remove.sure'), text: t('factor.remove.text') }
      : { title: t('factor.app.remove.sure'), text: t('factor.app.remove.text') }
    if (!(await confirm({ ...question, ok: t('factor.remove') }))) return
    await del('/admin/account/totp')
    notify(t(only ? 'factor.removed' : 'factor.app.removed'))
    await reload()
  }

  async function turnOn(otp: string) {
    onCodes((await put('/admin/account/totp', { otp }, { quiet: true })).recovery_codes)
    setApp(undefined)
    notify(t('factor.turned_on'))
    await reload()
  }

  if (app) return <Prove app={app} onCode={turnOn} onCancel={() => setApp(undefined)} />
  if (state.enabled === 0) {
    return (
      <>
        <Typography.Text type="secondary">{t('factor.app.about')}</Typography.Text>
        <Button loading={busy} onClick={() => void setUp()}>
          {t('factor.set_up')}
        </Button>
      </>
    )
  }
  return (
    <>
      <Flex gap={8} align="center" wrap>
        <Tag color="success" style={{ margin: 0 }}>
          {t('factor.on')}
        </Tag>
        <span>
          {t('factor.since')} <Time at={state.created_at} />
        </span>
        <span>
          {t('factor.used')} <Time at={state.last_used} />
        </span>
      </Flex>
      <Button danger onClick={() => void remove()}>
        {t('factor.remove')}
      </Button>
    </>
  )
}

type Proof = { app: App; onCode: (otp: string) => Promise<void>; onCancel: () => void }

// Prove shows the secret of a new authenticator app, and asks for a code that proves that the app has it.
function Prove({ app, onCode, onCancel }: Proof) {
  const [form] = Form.useForm<{ otp: string }>()
  const [problem, setProblem] = useState('')
  const [busy, setBusy] = useState(false)

  async function submit({ otp }: { otp: string }) {
    setBusy(true)
    setProblem('')
    try {
      await onCode(otp)
    } catch (cause) {
      if (!(cause instanceof Failure)) throw cause
      setProblem(faults(form, cause))
    } finally {
      setBusy(false)
    }
  }

  return (
    <Form form={form} layout="vertical" requiredMark={false} onFinish={(values) => void submit(values)} style={{ width: '100%', maxWidth: 400 }}>
      <p style={{ marginTop: 0 }}>{t('factor.scan')}</p>
      {/* Readers need dark on light, in dark mode too. */}
      <div role="img" aria-label={t('factor.qr')}>
        <QRCode type="svg" value={app.uri} size={184} color="#000" bgColor="#fff" aria-hidden />
      </div>
      <Form.Item label={t('factor.secret')} htmlFor="factor-secret" style={{ marginTop: 16 }}>
        <Flex gap={8}>
          <Input id="factor-secret" readOnly value={app.secret} style={{ fontFamily: 'monospace' }} onFocus={(e) => e.target.select()} />
          <Copy text={app.secret} />
        </Flex>
      </Form.Item>
      {problem && <Alert type="error" showIcon title={problem} style={{ marginBottom: 16 }} />}
      <Form.Item name="otp" label={t('factor.then')} rules={[{ required: true, message: t('form.required') }]}>
        <Input autoComplete="one-time-code" inputMode="numeric" maxLength={10} autoFocus />
      </Form.Item>
      <Flex gap={8}>
        <Button type="primary" htmlType="submit" loading={busy}>
          {t('factor.turn_on')}
        </Button>
        <Button onClick={onCancel}>{t('cancel')}</Button>
      </Flex>
    </Form>
  )
}
