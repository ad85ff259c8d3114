import { maybe } from '../../i18n'

// word translates a value of the API; unknown values of newer servers are shown as they
// are.
export const word = (of: string, value: string): string => maybe(`monitor.${of}.${value}`) ?? value

export const filterName = (name: string): string => maybe(`monitor.filter.${name}`) ?? name

export const kindName = (kind: string): string => word('kind', kind)
