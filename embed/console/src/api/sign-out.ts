import { Failure, post } from './request'
import { end, isPending, setPending } from './session'

// tell tells the server to end the session and delete its cookie, and reports whether there is none now.
const tell = (): Promise<boolean> =>
  post('/admin/logout', undefined, { quiet: true, signal: AbortSignal.timeout(10_000) }).then(
    () => true,
    (cause: unknown) => cause instanceof Failure && cause.status === 401,
  )

// signOut ends the session. If the server does not answer, the page leaves nevertheless, and the
// sign-in page deletes the cookie when it opens.
export async function signOut(): Promise<void> {
  if (!(await tell())) setPending(true)
  end(false)
}

// finishSignOut completes a sign-out that the server did not answer.
export async function finishSignOut(): Promise<void> {
  if (isPending() && (await tell())) setPending(false)
}
