import { type FormEvent, useState } from 'react'
import { Failure, post } from '../../api/request'
import type { Login } from '../../api/types'
import { t } from '../../i18n'
import { said } from '../SignIn'

type Props = { login: string; onDone: (login: Login) => void; onBack: () => void }

// Code is the second step of a sign-in: it asks for a code of the authenticator app.
export function Code({ login, onDone, onBack }: Props) {
  const [code, setCode] = useState('')
  const [problem, setProblem] = useState('')
  const [busy, setBusy] = useState(false)
  const [over, setOver] = useState(false) // the password must be entered again

  async function submit(event: FormEvent) {
    event.preventDefault()
    setBusy(true)
    setProblem('')
    try {
      onDone(await post('/admin/login/totp', { login_token: login, otp: code }, { quiet: true }))
    } catch (cause) {
      setProblem(said(cause, 'factor.failed'))
      setOver(cause instanceof Failure && cause.code === 'sign_in_again')
      setCode('')
      setBusy(false)
    }
  }

  return (
    <form onSubmit={(event) => void submit(event)}>
      {!over && (
        <>
          <p className="hint">{t('factor.enter')}</p>
          <label>
            {t('factor.code')}
            <input
              name="otp"
              autoComplete="one-time-code"
              spellCheck={false}
              autoCapitalize="none"
              autoFocus
              required
              maxLength={40}
              value={code}
              onChange={(e) => setCode(e.target.value)}
            />
          </label>
        </>
      )}
      <p className="problem" role="alert">
        {problem}
      </p>
      {!over && (
        <button className="primary" disabled={busy}>
          {t('factor.continue')}
        </button>
      )}
      <button key={String(over)} type="button" className="forgot" autoFocus={over} onClick={onBack}>
        {t('factor.back')}
      </button>
    </form>
  )
}
