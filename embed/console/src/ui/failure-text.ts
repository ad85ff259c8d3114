import { Failure } from '../api/request'
import { type Key, maybe, t } from '../i18n'

// failureText returns the message of a failure, translated if possible.
export function failureText(cause: unknown, otherwise: Key = 'sign_in.failed'): string {
  if (!(cause instanceof Failure)) return t(otherwise)
  return maybe(`error.${cause.code}`)?.replace('{request}', cause.requestId) ?? ((Object.values(cause.errors)[0] ?? cause.message) || t(otherwise))
}
