import { serverURL } from '../../api/base'
import dayjs from 'dayjs'
import type { ApiKey, KeyWithToken } from '../../api/types'

export type { ApiKey, KeyWithToken }

// Paths of the lists: of all keys, and of the personal keys of the user who is signed in.
export const all = '/admin/key'
export const own = '/admin/account/key'

// name is a key's name in a sentence, isolated from the writing direction around it.
export const name = (key: Pick<ApiKey, 'name'>): string => `\u2068${key.name}\u2069`

// Lifetime is until when a key is valid: for some days from now, until the end of a date, or as
// before.
export type Lifetime = { days: number } | { date: string } | { keep: true }

// standardDays is the maximum lifetime of keys for users who can't read the setting.
export const standardDays = 365

// presets are the lifetimes to choose from, in days, at most a maximum.
export function presets(most: number): number[] {
  const days = [30, 90, 180, 365].filter((n) => n <= most)
  return most < 365 && !days.includes(most) ? [...days, most] : days
}

// usual is the lifetime of a new key, in days.
export const usual = (most: number): number => Math.min(90, most)

// margin is how much earlier than the maximum a key expires, so that the clocks of this device and
// of the server may differ.
const margin = 5 * 60_000

// expiry is when a key expires; undefined for as before.
export function expiry(lifetime: Lifetime, most: number, now = new Date()): string | undefined {
  if ('keep' in lifetime) return undefined
  const last = now.getTime() + most * 86_400_000 - margin
  const at = 'days' in lifetime ? now.getTime() + lifetime.days * 86_400_000 : dayjs(lifetime.date, 'YYYY-MM-DD').endOf('day').valueOf()
  const latest = 'days' in lifetime || at - last < 86_400_000 ? Math.min(at, last) : at
  return new Date(latest).toISOString()
}

// example is a command that uses a key.
export const example = (token: string): string => `curl -H "Authorization: Bearer ${token}" ${serverURL()}/admin/dict`
