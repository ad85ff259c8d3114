import type { monitor as en } from '../en/monitor'

export const monitor: Record<keyof typeof en, string> = {
}
