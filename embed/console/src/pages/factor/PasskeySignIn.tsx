import { useEffect, useEffectEvent, useRef, useState } from 'react'
import { get, post } from '../../api/request'
import type { Login } from '../../api/types'
import { t } from '../../i18n'
import { failureText } from '../../ui/failure-text'
import { canUse, isCancelled, request, type Response } from './passkey'

type Props = { options: unknown; onDone: (login: Login) => void; onProblem: (text: string) => void }

// renewal is after how long passkeys are suggested with a new challenge. The server accepts one for an hour.
const renewal = 30 * 60_000

const fresh = async () => (await get('/admin/login/passkey', {}, { quiet: true })).public_key

// suggested returns the response of the passkey that is chosen from the suggestions in the field for the username.
async function suggested(options: unknown, signal: AbortSignal): Promise<Response | undefined> {
  if (!(await PublicKeyCredential.isConditionalMediationAvailable())) return undefined
  return request(options ?? (await fresh()), { signal, mediation: 'conditional' })
}

// PasskeySignIn signs in with a passkey alone: one that the browser suggests, or by a button.
export function PasskeySignIn({ options, onDone, onProblem }: Props) {
  const unused = useRef(options)
  const [turn, setTurn] = useState(0) // of the suggestions
  const [busy, setBusy] = useState(false)
  const [hint, setHint] = useState('')
  const able = canUse(options)

  async function enter(ask: () => Promise<Response>) {
    setBusy(true)
    setHint('')
    onProblem('')
    try {
      onDone(await post('/admin/login/passkey', { credential: await ask(), cookie: 1 }, { quiet: true }))
    } catch (cause) {
      if (isCancelled(cause)) setHint(t('error.passkey_cancelled'))
      else onProblem(failureText(cause))
      setBusy(false)
    }
  }

  const chosen = useEffectEvent((credential: Response) => void enter(() => Promise.resolve(credential)))

  useEffect(() => {
    if (busy || !able) return
    const since = Date.now()
    const stop = new AbortController()
    suggested(unused.current, stop.signal).then(
      (credential) => credential && !stop.signal.aborted && chosen(credential),
      () => {}, // none was chosen, and there is the button
    )
    unused.current = undefined
    const timer = setInterval(() => Date.now() - since > renewal && setTurn(turn + 1), 60_000)
    return () => {
      clearInterval(timer)
      stop.abort()
    }
  }, [busy, able, turn])

  if (!able) return null
  return (
    <>
      {/* The dialog of the browser ends the suggestions: both would ask at once. */}
      <button type="button" disabled={busy} onClick={() => void enter(async () => request(await fresh()))}>
        {t('passkey.sign_in')}
      </button>
      <p className="hint" role="status">
        {hint}
      </p>
    </>
  )
}
