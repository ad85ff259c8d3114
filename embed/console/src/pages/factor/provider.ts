import { returned } from '../../api/returned'
import { Failure, post } from '../../api/request'
import { t } from '../../i18n'

// signInAgain opens the sign-in of a provider in another window, and resolves when the person has come back from there.
export async function signInAgain(name: string, signal: AbortSignal): Promise<void> {
  const other = window.open('', '_blank') // before the request: browsers open a window only right after a click
  if (!other) throw new Failure(0, '', t('factor.provider.blocked'), 2)
  try {
    other.location.href = (await post(`/admin/reauth/provider/${name}`, undefined, { quiet: true, signal })).url
  } catch (cause) {
    other.close()
    throw cause
  }
  await returned(signal).catch(() => {
    throw new Failure(0, 'provider_cancelled', t('factor.provider.cancelled'), 2)
  })
}
