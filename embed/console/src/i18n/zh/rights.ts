import type { rights as en } from '../en/rights'

export const rights: Record<keyof typeof en, string> = {
}
