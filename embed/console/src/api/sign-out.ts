import { t } from '../i18n'
import { Failure, post } from './request'
import { end, isPending, setPending } from './session'

// tell tells the server to end the session and delete its cookie, and returns whether there is none now, and the page of the
// sign-in provider where the browser signs out as well, if there is one. A session that is bound to another network goes on.
const tell = (): Promise<{ ended: boolean; next?: string }> =>
  post('/admin/logout', undefined, { quiet: true, signal: AbortSignal.timeout(10_000) }).then(
    ({ provider_url }) => ({ ended: true, next: provider_url }),
    (cause: unknown) => ({ ended: cause instanceof Failure && cause.status === 401 && cause.code !== 'session_network' }),
  )

let leaving: Promise<void> | undefined

async function leave(): Promise<void> {
  cover()
  const { ended, next } = await tell()
  if (!ended) setPending(true)
  end(false, '', next)
}

// signOut ends the session, once. If the server does not answer, the page leaves nevertheless, and the
// sign-in page deletes the cookie when it opens.
export const signOut = (): Promise<void> =>
  (leaving ??= leave().finally(() => {
    leaving = undefined
  }))

// cover says that the user is being signed out, and keeps the page from being used.
function cover(): void {
  const over = document.createElement('dialog')
  over.className = 'leaving'
  over.addEventListener('cancel', (e) => e.preventDefault())
  const text = document.createElement('p')
  text.setAttribute('role', 'status')
  text.tabIndex = -1
  text.textContent = t('sign_out.busy')
  over.append(document.createElement('progress'), text)
  document.body.append(over)
  over.showModal()
}

// finishSignOut completes a sign-out that the server did not answer.
export async function finishSignOut(): Promise<void> {
  if (isPending() && (await tell()).ended) setPending(false)
}
