import type { dicts as en } from '../en/dicts'

export const dicts: Record<keyof typeof en, string> = {
}
