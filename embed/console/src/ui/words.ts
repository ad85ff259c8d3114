import type { Failure, Reason } from '../api/request'
import { type Key, maybe, t } from '../i18n'

// Server messages, which are in the user's language, are usually more specific than their
// code; these codes are the exceptions.
const ours = new Set([
  'offline',
  'unreachable',
  'internal',
  'reauth_required',
  'already_done',
  'idempotency_key_reused',
  'acting',
  'acting_read_only',
  'session_network',
  'token_replaced',
])

// words is the message of a failure. That of field faults would name the fields as
// programs do, so the faults are shown instead.
export function words(failure: Failure): string {
  if (ours.has(failure.code) || !failure.message) {
    return maybe(`error.${failure.code}`)?.replace('{request}', failure.requestId) ?? t('error.unreachable')
  }
  return Object.entries(failure.errors).slice(0, 3).map(labelled).join(' · ') || failure.message
}

// labelled is a fault with the label of its field, if there is one.
export function labelled([name, fault]: [string, string]): string {
  const [, line, column] = /^line (\d+) (.+)$/.exec(name) ?? []
  const label = line && column ? t('field.row', { line, column: maybe(`field.${column}`) ?? column }) : maybe(`field.${name}`)
  return label ? label + t('colon') + fault : fault
}

// faultText returns the console's own text for a fault, or that of the server.
export function faultText(text: string, reason?: Reason): string {
  const key = `fault.${reason?.code}`
  return maybe(key) === undefined ? text : t(key as Key, reason?.params as Record<string, string | number>)
}
