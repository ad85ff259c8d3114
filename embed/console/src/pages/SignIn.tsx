import { type FormEvent, useEffect, useState } from 'react'
import { Failure, get, post, put } from '../api/request'
import { back, begin, end, token } from '../api/session'
import type { Home, Login } from '../api/types'
import { language, maybe, setLanguage, t } from '../i18n'
import { Mark } from '../ui/Mark'
import './sign-in.css'

// SignIn is the whole page of who is not signed in, and of who must first choose
// another password. It is plain HTML: nothing of the component library is loaded.
export function SignIn({ mustChange = false }: { mustChange?: boolean }) {
  const [home, setHome] = useState<Pick<Home, 'title' | 'logo'>>({ title: 'Reeve', logo: '' })
  const [old, setOld] = useState<string>() // the password that must be changed
  useEffect(() => {
    get<Home>('/api/home', {}, { quiet: true }).then(
      (answer) => {
        setHome(answer)
        document.title = answer.title
      },
      () => {}, // the name of the place is not worth an error
    )
  }, [])
  return (
    <main className="sign-in">
      <Mark logo={home.logo} size={40} />
      <h1>{home.title}</h1>
      {mustChange || old !== undefined ? <ChangePassword old={old} /> : <Credentials mustChange={setOld} />}
      <button type="button" className="language" onClick={() => setLanguage(language === 'en' ? 'zh' : 'en')}>
        {language === 'en' ? '中文' : 'English'}
      </button>
    </main>
  )
}

// said is what a failure says, in the user's language where there are words for it.
function said(cause: unknown): string {
  if (!(cause instanceof Failure)) return t('sign_in.failed')
  return maybe(`error.${cause.code}`)?.replace('{request}', cause.requestId) ?? (cause.message || t('sign_in.failed'))
}

function Credentials({ mustChange }: { mustChange: (old: string) => void }) {
  const [username, setUsername] = useState('')
  const [password, setPassword] = useState('')
  const [problem, setProblem] = useState('')
  const [busy, setBusy] = useState(false)
  const ended = new URLSearchParams(location.search).has('back')

  async function submit(event: FormEvent) {
    event.preventDefault()
    setBusy(true)
    setProblem('')
    try {
      const login = await post<Login>('/admin/login', { username, password }, { quiet: true })
      begin(login.token)
      if (login.must_change_password) mustChange(password)
      else location.replace(back())
    } catch (cause) {
      setProblem(said(cause))
      setBusy(false)
    }
  }

  return (
    <form onSubmit={(event) => void submit(event)}>
      {ended && !problem && <p className="hint">{t('sign_in.ended')}</p>}
      <label>
        {t('sign_in.username')}
        <input name="username" autoComplete="username" autoFocus required value={username} onChange={(e) => setUsername(e.target.value)} />
      </label>
      <label>
        {t('sign_in.password')}
        <input name="password" type="password" autoComplete="current-password" required value={password} onChange={(e) => setPassword(e.target.value)} />
      </label>
      <p className="problem" role="alert">{problem}</p>
      <button className="primary" disabled={busy}>{t('sign_in')}</button>
    </form>
  )
}

function ChangePassword({ old: known }: { old?: string }) {
  const [old, setOld] = useState('')
  const [fresh, setFresh] = useState('')
  const [again, setAgain] = useState('')
  const [problem, setProblem] = useState('')
  const [busy, setBusy] = useState(false)

  async function submit(event: FormEvent) {
    event.preventDefault()
    if (fresh !== again) {
      setProblem(t('password.differ'))
      return
    }
    setBusy(true)
    setProblem('')
    try {
      await put('/admin/password', { old_password: known ?? old, new_password: fresh }, { quiet: true })
      location.replace(back())
    } catch (cause) {
      setProblem(said(cause))
      setBusy(false)
    }
  }

  return (
    <form onSubmit={(event) => void submit(event)}>
      <p className="hint">{t('password.must_change')}</p>
      {known === undefined && (
        <label>
          {t('password.old')}
          <input type="password" autoComplete="current-password" autoFocus required value={old} onChange={(e) => setOld(e.target.value)} />
        </label>
      )}
      <label>
        {t('password.new')}
        <input type="password" autoComplete="new-password" minLength={8} autoFocus={known !== undefined} required value={fresh} onChange={(e) => setFresh(e.target.value)} />
      </label>
      <label>
        {t('password.again')}
        <input type="password" autoComplete="new-password" minLength={8} required value={again} onChange={(e) => setAgain(e.target.value)} />
      </label>
      <p className="problem" role="alert">{problem}</p>
      <button className="primary" disabled={busy}>{t('password.change')}</button>
      {token() !== '' && <button type="button" onClick={() => end(false)}>{t('sign_out')}</button>}
    </form>
  )
}
