import { type FormEvent, useEffect, useRef, useState } from 'react'
import { Failure, post } from '../../api/request'
import type { Login } from '../../api/types'
import { t } from '../../i18n'
import { failureText } from '../../ui/failure-text'
import { canUse, isCancelled, request, whyNot } from './passkey'

type Props = { login: Login; onDone: (login: Login) => void; onBack: () => void }

// Code is the second step of a sign-in: it asks for a passkey, or for a code.
export function Code({ login: { login_token, methods, public_key: options }, onDone, onBack }: Props) {
  const app = methods.includes('otp')
  const codes = app || methods.includes('recovery')
  const passkey = methods.includes('passkey')
  const usable = passkey && canUse(options)
  const [byCode, setByCode] = useState(!usable)
  const [code, setCode] = useState('')
  const [problem, setProblem] = useState('')
  const [hint, setHint] = useState('')
  const [busy, setBusy] = useState(false)
  const [over, setOver] = useState(false) // the password must be entered again
  const stop = useRef<AbortController>(undefined) // ends the request of the browser
  useEffect(() => () => stop.current?.abort(), [])

  async function run(step: () => Promise<Login>) {
    setBusy(true)
    setProblem('')
    setHint('')
    try {
      onDone(await step())
    } catch (cause) {
      if (isCancelled(cause)) setHint(t('error.passkey_cancelled'))
      else setProblem(failureText(cause, 'factor.failed'))
      setOver(cause instanceof Failure && cause.code === 'sign_in_again')
      setCode('')
      setBusy(false)
    }
  }

  async function byPasskey() {
    stop.current = new AbortController()
    const credential = await request(options, { signal: stop.current.signal })
    return post('/admin/login/passkey', { login_token, credential, cookie: 1 }, { quiet: true })
  }

  function submit(event: FormEvent) {
    event.preventDefault()
    void run(byCode ? () => post('/admin/login/totp', { login_token, otp: code, cookie: 1 }, { quiet: true }) : byPasskey)
  }

  function change() {
    setByCode(!byCode)
    setProblem('')
    setHint('')
  }

  const possible = !over && (codes || !byCode)
  return (
    <form onSubmit={submit}>
      {!over && <p className="hint">{t('factor.second')}</p>}
      {passkey && !usable && <p className="hint">{whyNot(options)}</p>}
      {possible && byCode && (
        <label>
          {t(app ? 'factor.either' : 'factor.recovery.one')}
          <input
            name="otp"
            autoComplete={app ? 'one-time-code' : 'off'}
            spellCheck={false}
            autoCapitalize="none"
            autoFocus
            required
            maxLength={40}
            value={code}
            onChange={(e) => setCode(e.target.value)}
          />
        </label>
      )}
      <p className="hint" role="status">
        {hint}
      </p>
      <p className="problem" role="alert">
        {problem}
      </p>
      {possible && (
        <button key={byCode ? 'code' : 'passkey'} className="primary" disabled={busy} autoFocus={!byCode}>
          {t(byCode ? 'factor.continue' : 'passkey.use')}
        </button>
      )}
      {!over && usable && codes && (
        <button type="button" disabled={busy} onClick={change}>
          {t(byCode ? 'passkey.instead' : app ? 'factor.instead' : 'factor.recovery.instead')}
        </button>
      )}
      <button key={over ? 'over' : 'back'} type="button" className="forgot" autoFocus={over} onClick={onBack}>
        {t('factor.back')}
      </button>
    </form>
  )
}
