import { Failure, show } from '../../api/request'
import { t } from '../../i18n'

// Passkeys of the browser (WebAuthn). Options and responses are JSON, as in the API.

export type Response = Record<string, unknown>

type More = Omit<CredentialRequestOptions, 'publicKey'>

// hostOf returns the host name that the passkeys of options are for; empty if passkeys can't be used.
function hostOf(options: unknown): string {
  const { rpId, rp } = (options ?? {}) as { rpId?: string; rp?: { id: string } }
  return rpId ?? rp?.id ?? ''
}

// works reports whether the browser has passkeys. Over plain HTTP it has none.
const works = (): boolean => typeof PublicKeyCredential !== 'undefined' && 'parseRequestOptionsFromJSON' in PublicKeyCredential

// canUse reports whether the browser can use passkeys with these options on this page.
export const canUse = (options: unknown): boolean => works() && hostOf(options) === location.hostname

// whyNot is the reason why it can't.
export const whyNot = (options: unknown): string =>
  hostOf(options) === location.hostname ? t('passkey.unsupported') : t('passkey.elsewhere', { host: hostOf(options) })

const codes: Record<string, string> = {
  AbortError: 'passkey_cancelled',
  NotAllowedError: 'passkey_cancelled', // also if there is none, or after a while
  InvalidStateError: 'passkey_exists',
}

// isCancelled reports whether the user did not choose a passkey.
export const isCancelled = (cause: unknown): boolean => cause instanceof Failure && cause.code === 'passkey_cancelled'

async function asked(ask: () => Promise<Credential | null>): Promise<Response> {
  try {
    return ((await ask()) as PublicKeyCredential).toJSON() as unknown as Response
  } catch (cause) {
    throw new Failure(0, codes[cause instanceof DOMException ? cause.name : ''] ?? 'passkey_failed', '', show.error)
  }
}

// request asks for a passkey, and returns its response.
export const request = (options: unknown, more?: More): Promise<Response> =>
  asked(() =>
    navigator.credentials.get({ ...more, publicKey: PublicKeyCredential.parseRequestOptionsFromJSON(options as PublicKeyCredentialRequestOptionsJSON) }),
  )

// make creates a passkey, and returns it.
export const make = (options: unknown): Promise<Response> =>
  asked(() => navigator.credentials.create({ publicKey: PublicKeyCredential.parseCreationOptionsFromJSON(options as PublicKeyCredentialCreationOptionsJSON) }))
