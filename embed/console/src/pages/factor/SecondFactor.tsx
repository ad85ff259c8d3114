import { Alert, Button, Flex, Form, Input, Modal, QRCode, Skeleton, Tag, Typography } from 'antd'
import Password from 'antd/es/input/Password'
import { useState } from 'react'
import { Failure, post, put, request } from '../../api/request'
import type { AuthenticatorApp } from '../../api/types'
import { useAccount } from '../../app/account'
import { t } from '../../i18n'
import { Copy } from '../../ui/Copy'
import { faults } from '../../ui/faults'
import { Time } from '../../ui/Time'
import { useAct } from '../../ui/useAct'
import { useGet } from '../../ui/useGet'
import { Recovery } from './Recovery'

// few is the number of recovery codes at which new ones are suggested.
const few = 3

type Asked = 'set_up' | 'renew' | 'remove'
type Proof = { password: string; otp: string }

// SecondFactor sets up and removes the user's own authenticator app, and replaces the recovery codes.
export function SecondFactor() {
  const { data: state, reload } = useGet('/admin/account/totp')
  const { done } = useAct()
  const [asked, setAsked] = useState<Asked>()
  const [app, setApp] = useState<AuthenticatorApp>()
  const [codes, setCodes] = useState<string[]>([])

  async function prove(proof: Proof) {
    if (asked === 'set_up') setApp(await post('/admin/account/totp', { password: proof.password }, { quiet: true }))
    else if (asked === 'renew') setCodes((await post('/admin/account/recovery', proof, { quiet: true })).recovery_codes)
    else {
      await request('DELETE', '/admin/account/totp', { body: proof, quiet: true })
      done(t('factor.removed'))
    }
    setAsked(undefined)
    await reload()
  }

  async function confirm(otp: string) {
    setCodes((await put('/admin/account/totp', { otp }, { quiet: true })).recovery_codes)
    setApp(undefined)
    done(t('factor.turned_on'))
    await reload()
  }

  if (!state) return <Skeleton active />
  return (
    <Flex vertical gap={16} align="start" style={{ maxWidth: 560, paddingTop: 8 }}>
      <Typography.Paragraph type="secondary" style={{ margin: 0 }}>
        {t('factor.about')}
      </Typography.Paragraph>
      {state.enabled ? (
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
          {state.recovery_codes > few ? (
            <span>{t('factor.left', { n: state.recovery_codes })}</span>
          ) : (
            <Alert type="warning" showIcon title={`${t('factor.left', { n: state.recovery_codes })} ${t('factor.few')}`} />
          )}
          <Flex gap={8} wrap>
            <Button onClick={() => setAsked('renew')}>{t('factor.renew')}</Button>
            <Button danger onClick={() => setAsked('remove')}>
              {t('factor.remove')}
            </Button>
          </Flex>
        </>
      ) : app ? (
        <Confirm app={app} onCode={confirm} onCancel={() => setApp(undefined)} />
      ) : (
        <Button type="primary" onClick={() => setAsked('set_up')}>
          {t('factor.set_up')}
        </Button>
      )}
      <Ask asked={asked} onProof={prove} onCancel={() => setAsked(undefined)} />
      <Recovery codes={codes} onClose={() => setCodes([])} />
    </Flex>
  )
}

// useSubmit sends a form, and shows the faults at its fields.
function useSubmit<V>(send: (values: V) => Promise<void>) {
  const [form] = Form.useForm<V>()
  const [problem, setProblem] = useState('')
  const [busy, setBusy] = useState(false)
  async function submit(values: V) {
    setBusy(true)
    setProblem('')
    try {
      await send(values)
    } catch (cause) {
      if (!(cause instanceof Failure)) throw cause
      setProblem(faults(form, cause))
    } finally {
      setBusy(false)
    }
  }
  return { form, busy, submit, fault: problem && <Alert type="error" showIcon title={problem} style={{ marginBottom: 16 }} /> }
}

const required = () => [{ required: true, message: t('form.required') }]

// Confirm shows the secret of a new authenticator app, and asks for a code that proves that the app has it.
function Confirm({ app, onCode, onCancel }: { app: AuthenticatorApp; onCode: (otp: string) => Promise<void>; onCancel: () => void }) {
  const { form, busy, submit, fault } = useSubmit<{ otp: string }>(({ otp }) => onCode(otp))
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
      {fault}
      <Form.Item name="otp" label={t('factor.then')} rules={required()}>
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

const titles = { set_up: 'factor.set_up', renew: 'factor.renew', remove: 'factor.remove' } as const

// Ask asks for the password and, once there is a second factor, for a code.
function Ask({ asked, onProof, onCancel }: { asked: Asked | undefined; onProof: (proof: Proof) => Promise<void>; onCancel: () => void }) {
  const { info } = useAccount().info
  const { form, busy, submit, fault } = useSubmit<Proof>(onProof)
  return (
    <Modal
      open={asked !== undefined}
      title={asked && t(titles[asked])}
      okText={asked === 'set_up' ? t('factor.next') : asked && t(titles[asked])}
      okButtonProps={{ danger: asked === 'remove', loading: busy }}
      cancelText={t('cancel')}
      onOk={form.submit}
      onCancel={onCancel}
      destroyOnHidden
    >
      <Form form={form} layout="vertical" requiredMark={false} onFinish={(values) => void submit(values)} preserve={false}>
        {asked === 'renew' && <p>{t('factor.renew.text')}</p>}
        {asked === 'remove' && <p>{t('factor.remove.text')}</p>}
        {fault}
        <input type="text" name="username" autoComplete="username" value={info.username} readOnly hidden />
        <Form.Item name="password" label={t('factor.password')} rules={required()}>
          <Password autoComplete="current-password" autoFocus />
        </Form.Item>
        {asked !== 'set_up' && (
          <Form.Item name="otp" label={t('factor.either')} rules={required()}>
            <Input autoComplete="one-time-code" maxLength={40} />
          </Form.Item>
        )}
        {/* Enter submits. */}
        <button type="submit" hidden />
      </Form>
    </Modal>
  )
}
