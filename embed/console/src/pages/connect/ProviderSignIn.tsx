import { useEffect, useEffectEvent, useState } from 'react'
import { Failure, post } from '../../api/request'
import { back } from '../../api/session'
import type { Choice, Login } from '../../api/types'
import { t } from '../../i18n'
import { failureText } from '../../ui/failure-text'
import { fits, hrefOf, last, ordered, remember } from './order'

export type Props = {
  choices: Choice[]
  address: string // what is typed as the username
  arrived: boolean // the browser has come back from a provider
  over: boolean // the page below must not be left
  linking: boolean // the account has to be signed in to first
  onLogin: (login: Login) => void
  onLink: () => void
  onProblem: (text: string) => void
}

// ProviderSignIn signs in with a provider: it has a link to each, and completes the sign-in of a browser that comes back.
export function ProviderSignIn({ choices, address, arrived, over, linking, onLogin, onLink, onProblem }: Props) {
  const [busy, setBusy] = useState(arrived)
  const complete = useEffectEvent(async () => {
    try {
      onLogin(await post('/admin/login/provider', { cookie: 1 }, { quiet: true }))
    } catch (cause) {
      setBusy(false)
      if (cause instanceof Failure && cause.code === 'provider_link') onLink()
      else onProblem(failureText(cause))
    }
  })
  useEffect(() => {
    if (arrived) void complete()
  }, [arrived])

  const used = last()
  return (
    <>
      <p className="hint lead" role="status">
        {busy ? t('connect.arriving') : linking ? t('connect.link') : ''}
      </p>
      {!busy && !linking && choices.length > 0 && (
        <nav aria-label={t('connect.choose')}>
          {ordered(choices, address, used).map((choice) => (
            <a
              key={choice.name}
              className={fits(choice, address) ? 'primary' : undefined}
              href={hrefOf(choice, back(), address)}
              target={over ? '_blank' : undefined}
              rel={over ? 'noopener' : undefined}
              onClick={() => remember(choice.name)}
            >
              <bdi>{t('connect.continue', { title: choice.title })}</bdi>
              {choice.name === used && <small>{t('connect.last')}</small>}
            </a>
          ))}
        </nav>
      )}
      {over && choices.length > 0 && <p className="hint">{t('connect.tab')}</p>}
    </>
  )
}

// Connected connects the account to the provider that the browser has come from, after the sign-in to it.
export function Connected({ onDone }: { onDone: () => void }) {
  const [text, setText] = useState('')
  const [problem, setProblem] = useState('')
  useEffect(() => {
    post('/admin/account/provider', undefined, { quiet: true }).then(
      ({ provider_name: title }) => setText(t('connect.linked', { title })),
      (cause: unknown) => setProblem(t('connect.not_linked', { reason: failureText(cause) })),
    )
  }, [])
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault()
        onDone()
      }}
    >
      <p role="status">{text || (problem ? '' : t('connect.linking'))}</p>
      <p className="problem" role="alert">
        {problem}
      </p>
      {(text || problem) && (
        <button className="primary" autoFocus>
          {t('connect.go_on')}
        </button>
      )}
    </form>
  )
}
