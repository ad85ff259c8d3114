import type { files as en } from '../en/files'

export const files: Record<keyof typeof en, string> = {
}
