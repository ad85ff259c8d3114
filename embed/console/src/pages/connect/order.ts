import { base } from '../../api/base'
import type { Choice } from '../../api/types'

const key = `reeve.provider${base}`

// last is the name of the provider that this browser has used last; '' for none.
export const last = (): string => localStorage.getItem(key) ?? ''

export const remember = (name: string): void => localStorage.setItem(key, name)

// fits reports whether an address is in a domain of a provider.
export function fits({ domains }: Pick<Choice, 'domains'>, address: string): boolean {
  const [, domain] = /@([^@]+)$/.exec(address.trim()) ?? []
  return domain !== undefined && domains.includes(domain.toLowerCase())
}

// ordered has the providers for an address first, then the one that was used last.
export function ordered(choices: Choice[], address: string, used: string): Choice[] {
  const rank = (choice: Choice) => (fits(choice, address) ? 0 : choice.name === used ? 1 : 2)
  return choices.toSorted((a, b) => rank(a) - rank(b))
}

// hrefOf is where the browser goes to sign in with a provider. to is the page to open afterwards.
export function hrefOf({ url }: Choice, to: string, address: string): string {
  const query = new URLSearchParams({ to })
  if (address.includes('@')) query.set('address', address.trim())
  return `${url}?${query}`
}
