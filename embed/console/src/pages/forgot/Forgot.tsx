import { type FormEvent, useState } from 'react'
import { post } from '../../api/request'
import { t } from '../../i18n'
import { failureText } from '../../ui/failure-text'

// Forgot asks for a mail with a link to set a new password. What it says does not depend on whether
// there is such a user.
export function Forgot({ onBack }: { onBack: () => void }) {
  const [username, setUsername] = useState('')
  const [problem, setProblem] = useState('')
  const [sent, setSent] = useState(false)
  const [busy, setBusy] = useState(false)

  async function submit(event: FormEvent) {
    event.preventDefault()
    setBusy(true)
    setProblem('')
    try {
      await post('/admin/password/forgot', { username }, { quiet: true })
      setSent(true)
    } catch (cause) {
      setProblem(failureText(cause, 'forgot.failed'))
    } finally {
      setBusy(false)
    }
  }

  return (
    <form onSubmit={(event) => void submit(event)}>
      <p className="hint" role="status">
        {t(sent ? 'forgot.sent' : 'forgot.title')}
      </p>
      {!sent && (
        <>
          <label>
            {t('forgot.who')}
            <input
              name="username"
              autoComplete="username"
              spellCheck={false}
              autoCapitalize="none"
              autoFocus
              required
              value={username}
              onChange={(e) => setUsername(e.target.value)}
            />
          </label>
          <p className="problem" role="alert">
            {problem}
          </p>
          <button className="primary" disabled={busy}>
            {t('forgot.send')}
          </button>
        </>
      )}
      <button key={String(sent)} type="button" className="forgot" autoFocus={sent} onClick={onBack}>
        {t('forgot.back')}
      </button>
    </form>
  )
}
