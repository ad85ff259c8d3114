import { useEffect, useState } from 'react'
import { consoleURL } from '../api/base'
import { Failure, post } from '../api/request'
import { t } from '../i18n'
import { failureText } from '../ui/failure-text'
import './sign-in.css'

const param = (name: string) => new URLSearchParams(location.search).get(name) ?? ''

// Open continues to a program behind a proxy, which sent the browser here to sign in. It is
// plain HTML, like the sign-in page.
export function Open() {
  const [problem, setProblem] = useState('')
  useEffect(() => {
    post('/auth/forward', { origin: param('origin'), to: param('to'), state: param('state') }, { quiet: true }).then(
      ({ url }) => location.replace(url),
      (cause) => {
        if (cause instanceof Failure && cause.code === 'password_change_required')
          location.replace(`${consoleURL('password')}?back=${encodeURIComponent(location.pathname + location.search)}`)
        else setProblem(failureText(cause))
      },
    )
  }, [])
  return (
    <main className="sign-in">
      <h1>{t('sign_in')}</h1>
      <p role="status">{!problem && t('open.going', { origin: param('origin') })}</p>
      <p className="problem" role="alert">
        {problem}
      </p>
      {problem && <button onClick={() => location.reload()}>{t('state.reload')}</button>}
    </main>
  )
}
