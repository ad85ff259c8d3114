import type { ComponentType } from 'react'

// The pages of the console, by the path that their permission has in the menus of
// the interface. Each is a module of its own, loaded when it is first opened; a
// menu whose path is not here belongs to another program and is not shown.
export const pages: Record<string, () => Promise<ComponentType>> = {
  '/system/loginlog': async () => (await import('../pages/LoginLog')).LoginLog,
  '/system/session': async () => (await import('../pages/Sessions')).Sessions,
  '/system/info': async () => (await import('../pages/SystemInfo')).SystemInfo,
}
