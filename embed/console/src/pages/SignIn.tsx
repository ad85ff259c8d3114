import { type ComponentProps, type ComponentType, type FormEvent, type ReactNode, useEffect, useId, useState } from 'react'
import { get, post, put } from '../api/request'
import { back, begin, endedBy, mark } from '../api/session'
import { signOut } from '../api/sign-out'
import type { Home, Login } from '../api/types'
import { language, loadTexts, setLanguage, t } from '../i18n'
import { languages } from '../i18n/languages'
import { failureText } from '../ui/failure-text'
import { Mark, setIcon } from '../ui/Mark'
import { Strength } from '../ui/Strength'
import type { Props as ProviderProps } from './connect/ProviderSignIn'
import './sign-in.css'

// Again is a sign-in over a page that is not left.
export type Again = { username: string; code: string; onDone: () => void }

// SignIn is the page for signing in and for a required password change. It is plain HTML,
// without the component library.
export function SignIn({ mustChange = false, again }: { mustChange?: boolean; again?: Again }) {
  const [home, setHome] = useState<Partial<Home> & Pick<Home, 'title' | 'logo'>>({ title: 'Reeve', logo: '' })
  const [old, setOld] = useState<string>() // the password that must be changed
  const [forgot, setForgot] = useState<{ Form: ComponentType<{ onBack: () => void }> }>()
  const [second, setSecond] = useState<Second>() // the password was right, and the second factor is required
  const [link, setLink] = useState<Link>() // the sign-in is followed by a connection to a provider
  const over = again !== undefined
  useEffect(() => {
    get('/api/home', {}, { quiet: true }).then(
      (answer) => {
        setHome(answer)
        if (over) return
        document.title = answer.title
        setIcon(answer.logo)
      },
      () => {}, // a missing site name is not worth an error
    )
  }, [over])

  // enter opens the page that was asked for, unless the password must be changed first.
  function enter(login: Login, mustChange: () => void): void {
    begin()
    if (login.must_change_password) mustChange()
    else done()
  }

  // done goes on after the sign-in.
  function done(): void {
    if (link && !link.now) setLink({ ...link, now: true })
    else if (again) {
      begin() // tells other tabs that wait for it
      again.onDone()
    } else location.replace(back())
  }

  const Place = again ? 'div' : 'main'
  return (
    <Place className="sign-in">
      <Mark logo={home.logo} size={40} />
      <h1>{home.title}</h1>
      {!over && home.sign_in_text && <p className="words">{home.sign_in_text}</p>}
      {link?.now ? (
        <link.Form onDone={done} />
      ) : mustChange || old !== undefined ? (
        <ChangePassword old={old || undefined} shortest={home.password_length ?? 8} onDone={done} />
      ) : forgot ? (
        <forgot.Form onBack={() => setForgot(undefined)} />
      ) : second ? (
        <second.Form login={second.login} onDone={(login) => enter(login, () => setOld(second.password))} onBack={() => setSecond(undefined)} />
      ) : (
        <Credentials
          again={again}
          linking={link !== undefined}
          onEnter={(login, password) => enter(login, () => setOld(password))}
          onSecond={setSecond}
          onLink={setLink}
          first={home.first_sign_in === 1}
        >
          <div className="help">
            <Help home={home} onForgot={(Form) => setForgot({ Form })} />
          </div>
        </Credentials>
      )}
      {Object.entries(languages)
        .filter(([code]) => !over && code !== language)
        .map(([code, { short }]) => (
          <button key={code} type="button" className="language" onClick={() => setLanguage(code)}>
            {short}
          </button>
        ))}
    </Place>
  )
}

// Secret is a password field that can be revealed.
function Secret({ label, ...input }: ComponentProps<'input'> & { label: string }) {
  const [shown, setShown] = useState(false)
  const id = useId()
  const name = t(shown ? 'sign_in.hide' : 'sign_in.show', { label })
  return (
    <div className="secret">
      <label htmlFor={id}>{label}</label>
      <input {...input} id={id} type={shown ? 'text' : 'password'} spellCheck={false} autoCapitalize="none" required />
      <button type="button" aria-label={name} title={name} onClick={() => setShown(!shown)}>
        <svg viewBox="0 0 24 24" aria-hidden="true">
          <path d="M2 12s3.5-6.5 10-6.5S22 12 22 12s-3.5 6.5-10 6.5S2 12 2 12z" />
          <circle cx="12" cy="12" r="3" />
          {shown && <path d="M4 20 20 4" />}
        </svg>
      </button>
    </div>
  )
}

// Busy is shown and announced while the server hashes the password.
function Busy({ busy }: { busy: boolean }) {
  return (
    <p className="busy" role="status">
      {busy && (
        <>
          <progress aria-hidden="true" />
          {t('sign_in.busy')}
        </>
      )}
    </p>
  )
}

// Help is what users who have forgotten their password can do. It is empty until the server says which.
function Help({ home, onForgot }: { home: Partial<Home>; onForgot: (form: ComponentType<{ onBack: () => void }>) => void }) {
  const [problem, setProblem] = useState('')
  if (home.forgot_password === undefined) return null
  if (home.forgot_password) {
    const open = () =>
      Promise.all([import('./forgot/Forgot'), loadTexts('forgot')]).then(
        ([{ Forgot }]) => onForgot(Forgot),
        () => setProblem(t('error.unreachable')),
      )
    return (
      <>
        <button type="button" className="forgot" onClick={() => void open()}>
          {t('forgot')}
        </button>
        <p className="problem" role="alert">
          {problem}
        </p>
      </>
    )
  }
  return <p className="hint">{home.contact ? t('forgot.contact', { contact: home.contact }) : t('forgot.ask')}</p>
}

// Second is the second step of a sign-in.
type Second = { Form: ComponentType<{ login: Login; onDone: (login: Login) => void; onBack: () => void }>; login: Login; password: string }

// Passkey is the part for a sign-in with a passkey alone.
type Passkey = { Part: ComponentType<{ options: unknown; onDone: (login: Login) => void; onProblem: (text: string) => void }>; options: unknown }

// passkeys loads that part, if the browser and the server have passkeys.
async function passkeys(): Promise<Passkey | undefined> {
  if (typeof PublicKeyCredential === 'undefined') return undefined
  const { public_key: options } = await get('/admin/login/passkey', {}, { quiet: true })
  if (!options) return undefined
  const [{ PasskeySignIn }] = await Promise.all([import('./factor/PasskeySignIn'), loadTexts('factor')])
  return { Part: PasskeySignIn, options }
}

// Providers is the part for a sign-in with a provider. It is alone at first if passwords are turned off for all.
type Providers = { Part: ComponentType<ProviderProps>; Connected: Link['Form']; choices: ProviderProps['choices']; alone: boolean }

// Link is a connection to a provider, which is made now or after the sign-in.
type Link = { Form: ComponentType<{ onDone: () => void }>; now: boolean }

// providers loads that part, if the server has providers or the browser has just come from one.
async function providers(arrived: boolean): Promise<Providers | undefined> {
  const { data: choices, password_sign_in: passwords } = await get('/auth/provider', {}, { quiet: true })
  if (!choices.length && !arrived) return undefined
  const [{ ProviderSignIn, Connected }] = await Promise.all([import('./connect/ProviderSignIn'), loadTexts('connect')])
  return { Part: ProviderSignIn, Connected, choices, alone: !passwords && choices.length > 0 }
}

// takeArrival reports whether the browser has come from a provider, and removes that from the URL: it is used once.
function takeArrival(): boolean {
  const { searchParams, pathname } = new URL(location.href)
  if (!searchParams.has('arrived')) return false
  searchParams.delete('arrived')
  history.replaceState(history.state, '', searchParams.size ? `${pathname}?${searchParams}` : pathname)
  return true
}

// endedHint says why the user has to sign in again; '' at the first sign-in.
function endedHint(again?: Again): string {
  const code = again ? again.code : endedBy()
  if (code === 'session_network' || code === 'session_password_off') return t(`error.${code}`)
  if (again) return t('sign_in.again')
  return new URLSearchParams(location.search).has('back') ? t('sign_in.ended') : ''
}

type CredentialsProps = {
  again?: Again
  linking: boolean
  onEnter: (login: Login, password: string) => void
  onSecond: (second: Second) => void
  onLink: (link: Link) => void
  first: boolean
  children: ReactNode
}

function Credentials({ again, linking, onEnter, onSecond, onLink, first, children }: CredentialsProps) {
  const [username, setUsername] = useState(again?.username ?? '')
  const [password, setPassword] = useState('')
  const [problem, setProblem] = useState('')
  const [busy, setBusy] = useState(false)
  const [passkey, setPasskey] = useState<Passkey>()
  const [provider, setProvider] = useState<Providers>()
  const [settled, setSettled] = useState(false) // it is known whether passwords are asked for
  const [arrived] = useState(() => !again && takeArrival())
  const [opened, setOpened] = useState(false) // the password was asked for
  const alone = !!provider?.alone && !opened && !linking
  const ended = arrived ? '' : endedHint(again)
  useEffect(() => {
    passkeys().then(setPasskey, () => {}) // the password is enough
    providers(arrived)
      .then(setProvider, (cause) => arrived && setProblem(failureText(cause)))
      .finally(() => setSettled(true))
  }, [arrived])

  // next goes on after the first step of a sign-in.
  async function next(login: Login, password: string) {
    if (!login.login_token) return onEnter(login, password)
    const [{ Code }] = await Promise.all([import('./factor/Code'), loadTexts('factor')])
    onSecond({ Form: Code, login, password })
  }

  async function submit(event: FormEvent) {
    event.preventDefault()
    setBusy(true)
    setProblem('')
    try {
      await next(await post('/admin/login', { username, password, cookie: 1 }, { quiet: true }), password)
    } catch (cause) {
      setProblem(failureText(cause))
      setBusy(false)
    }
  }

  if (!settled) return <form aria-busy="true" className="waiting" />
  return (
    <form onSubmit={(event) => void submit(event)}>
      {first && <p className="hint">{t('sign_in.first')}</p>}
      {ended && !problem && <p className="hint">{ended}</p>}
      {!alone && (
        <>
          <label>
            {t('sign_in.username')}
            <input
              name="username"
              autoComplete="username webauthn"
              autoFocus={!again}
              required
              value={username}
              onChange={(e) => setUsername(e.target.value)}
            />
          </label>
          <Secret
            label={t('sign_in.password')}
            name="password"
            autoComplete="current-password"
            autoFocus={!!again}
            value={password}
            onChange={(e) => setPassword(e.target.value)}
          />
        </>
      )}
      <p className="problem" role="alert">
        {problem}
      </p>
      <Busy busy={busy} />
      {!alone && (
        <button className="primary" disabled={busy}>
          {t('sign_in')}
        </button>
      )}
      {passkey && <passkey.Part options={passkey.options} onDone={(login) => onEnter(login, '')} onProblem={setProblem} />}
      {provider && (
        <provider.Part
          choices={provider.choices}
          address={username}
          arrived={arrived}
          over={again !== undefined}
          linking={linking}
          onLogin={(login) => void next(login, '').catch(() => setProblem(t('error.unreachable')))}
          onLink={() => onLink({ Form: provider.Connected, now: false })}
          onProblem={setProblem}
        />
      )}
      {alone ? (
        <button type="button" className="forgot" onClick={() => setOpened(true)}>
          {t('sign_in.with_password')}
        </button>
      ) : (
        children
      )}
    </form>
  )
}

function ChangePassword({ old: known, shortest, onDone }: { old?: string; shortest: number; onDone: () => void }) {
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
      onDone()
    } catch (cause) {
      setProblem(failureText(cause))
      setBusy(false)
    }
  }

  return (
    <form onSubmit={(event) => void submit(event)}>
      <p className="hint">{t('password.must_change')}</p>
      {known === undefined && (
        <Secret label={t('password.old')} autoComplete="current-password" autoFocus value={old} onChange={(e) => setOld(e.target.value)} />
      )}
      <Secret
        label={t('password.new')}
        autoComplete="new-password"
        minLength={shortest}
        autoFocus={known !== undefined}
        value={fresh}
        aria-describedby="password-rules"
        onChange={(e) => setFresh(e.target.value)}
      />
      <div>
        <p id="password-rules" className="hint">
          {t('password.rules', { n: shortest })}
        </p>
        <Strength password={fresh} shortest={shortest} />
      </div>
      <Secret label={t('password.again')} autoComplete="new-password" minLength={shortest} value={again} onChange={(e) => setAgain(e.target.value)} />
      <p className="problem" role="alert">
        {problem}
      </p>
      <Busy busy={busy} />
      <button className="primary" disabled={busy}>
        {t('password.change')}
      </button>
      {mark() !== '' && (
        <button type="button" onClick={() => void signOut()}>
          {t('sign_out')}
        </button>
      )}
    </form>
  )
}
