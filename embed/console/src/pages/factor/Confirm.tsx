import { Button, Form, Input, type InputRef, theme } from 'antd'
import { Password } from '../../ui/Password'
import { type Ref, useEffect, useRef, useState } from 'react'
import type { Body } from '../../api/paths'
import { Failure, get, post } from '../../api/request'
import type { Reauth } from '../../api/types'
import { signOut } from '../../api/sign-out'
import { useAccount } from '../../app/account'
import { t } from '../../i18n'
import { Question } from '../../ui/Question'
import { canUse, request, whyNot } from './passkey'
import { signInAgain } from './provider'

type Values = Body<'POST', '/admin/reauth'>

type Props = { open: boolean; how: Reauth; onConfirmed: () => void; onClose: () => void; onClosed: () => void }

// Confirm asks the user to confirm who it is, above everything else. The caller returns the focus.
export function Confirm({ open, how, onConfirmed, onClose, onClosed }: Props) {
  const { token } = theme.useToken()
  const field = useRef<InputRef>(null)
  const inside = useRef<HTMLDivElement>(null)
  const stop = useRef<AbortController>(undefined) // ends the request of the browser
  const usable = canUse(how.public_key)
  const [byCode, setByCode] = useState(!usable) // with a recovery code instead of a passkey
  const byPasskey = how.method === 'passkey' && !byCode
  useEffect(() => {
    if (!open) stop.current?.abort()
  }, [open])

  async function proofOf(values: Values): Promise<Values> {
    if (byPasskey) return { passkey: await askPasskey() }
    if (how.method !== 'provider') return values
    stop.current = new AbortController()
    await signInAgain(how.provider, stop.current.signal)
    return { provider: 1 }
  }

  async function run(values: Values) {
    if (how.method === 'sign_in') return signOut()
    const proof = await proofOf(values)
    const send = () => post('/admin/reauth', proof, { quiet: true })
    try {
      await send()
    } catch (cause) {
      if (!(cause instanceof Failure && cause.code === 'token_replaced')) throw cause
      await send() // a confirmation in another tab was faster; the browser has the new cookie by now
    }
    onConfirmed()
  }

  // askPasskey uses new options, since those with which the dialog opened may have expired.
  async function askPasskey() {
    stop.current = new AbortController()
    const { signal } = stop.current
    const { public_key } = await get('/admin/reauth', {}, { quiet: true })
    return request(public_key, { signal })
  }

  // focus moves the focus to the field, or to the button without one.
  function focus() {
    const button = inside.current?.closest('.ant-modal')?.querySelector<HTMLElement>('.ant-modal-footer .ant-btn-primary')
    ;(field.current ?? button)?.focus()
  }

  return (
    <Question<Values>
      open={open}
      title={t('factor.confirm')}
      ok={okText(how, byPasskey)}
      initial={{}}
      run={run}
      onClose={onClose}
      onClosed={onClosed}
      name="confirm"
      modal={{
        zIndex: token.zIndexPopupBase + 1001, // the library uses up to 1000
        focusable: { focusTriggerAfterClose: false },
        afterOpenChange: (opened) => opened && focus(), // until then, a drawer below would take the focus back
      }}
    >
      <div ref={inside}>
        <p style={{ marginTop: 0 }}>{t('factor.confirm.text')}</p>
        {how.method === 'password' && <ByPassword ref={field} />}
        {how.method === 'provider' && <p>{t('factor.provider', { title: how.provider_name })}</p>}
        {how.method === 'sign_in' && <p>{t('factor.sign_in')}</p>}
        {how.method === 'otp' && <ByCode ref={field} label={t('factor.either')} />}
        {how.method === 'passkey' && (
          <>
            {!usable && <p>{whyNot(how.public_key)}</p>}
            {byCode && <ByCode ref={field} label={t('factor.recovery.one')} autoFocus={usable} />}
            {usable && (
              <Button type="link" style={{ padding: 0 }} onClick={() => setByCode(!byCode)}>
                {t(byCode ? 'passkey.instead' : 'factor.recovery.instead')}
              </Button>
            )}
          </>
        )}
      </div>
    </Question>
  )
}

function okText({ method, provider_name: title }: Reauth, byPasskey: boolean): string {
  if (byPasskey) return t('passkey.use')
  if (method === 'provider') return t('factor.provider.ok', { title })
  return t(method === 'sign_in' ? 'sign_out' : 'factor.confirm.ok')
}

const required = () => [{ required: true, message: t('form.required') }]

type Field = { ref: Ref<InputRef> }

function ByPassword({ ref }: Field) {
  const { info } = useAccount().info
  return (
    <>
      <input type="text" name="username" autoComplete="username" value={info.username} readOnly hidden />
      <Form.Item name="password" label={t('sign_in.password')} rules={required()}>
        <Password ref={ref} autoComplete="current-password" />
      </Form.Item>
    </>
  )
}

function ByCode({ ref, label, autoFocus }: Field & { label: string; autoFocus?: boolean }) {
  return (
    <Form.Item name="otp" label={label} rules={required()}>
      <Input ref={ref} autoFocus={autoFocus} autoComplete="one-time-code" autoCapitalize="none" spellCheck={false} maxLength={40} />
    </Form.Item>
  )
}
