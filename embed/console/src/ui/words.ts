import type { Failure } from '../api/request'
import { language, maybe, t } from '../i18n'

// The server's own sentence says more than its code does; these are the codes for
// which it has none, or less to say.
const ours = new Set(['offline', 'unreachable', 'internal'])

// words are what a failure says to a person.
export function words(failure: Failure): string {
  const known = maybe(`error.${failure.code}`)?.replace('{request}', failure.requestId)
  if (ours.has(failure.code) || !failure.message) return known ?? t('error.unreachable')
  return language === 'en' || !known ? failure.message : `${known} (${failure.message})`
}
