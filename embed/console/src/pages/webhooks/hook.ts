import dayjs from 'dayjs'
import type { Webhook, WebhookWithSecret } from '../../api/types'

export type { Webhook, WebhookWithSecret }

// host is the name of a webhook for people.
export const host = ({ url }: Pick<Webhook, 'url'>): string => parts(url).host

// parts are a URL before its host, the host, and the rest.
export function parts(url: string): { before: string; host: string; after: string } {
  const [, before = '', host = url, after = ''] = /^(\w+:\/\/)([^/?#]+)(.*)$/.exec(url) ?? []
  return { before, host, after: after === '/' ? '' : after }
}

// moving reports whether a webhook sends, or will soon, so that its state changes without events.
export const moving = ({ state, behind, replaying }: Webhook): boolean => state === 'retrying' || (state === 'active' && behind + replaying > 0)

// clock is a time of today, with seconds if they matter, or a date and time.
export function clock(at: string | null, seconds = false): string {
  const moment = dayjs(at)
  return moment.format(moment.isSame(dayjs(), 'day') ? (seconds ? 'HH:mm:ss' : 'HH:mm') : 'YYYY-MM-DD HH:mm')
}

// entryOf is the number of the change log's entry that an event is about; undefined for events
// that are no entries. The ID of an event is GENERATION-NUMBER or GENERATION-NUMBER-PART.
export function entryOf({ event, kind, type }: { event: string; kind: string; type: string }): number | undefined {
  if (kind === 'test' || type === 'audit.head') return undefined
  const [, seq] = /^[^-]+-(\d+)(?:-\d+)?$/.exec(event) ?? []
  return seq ? Number(seq) : undefined
}
