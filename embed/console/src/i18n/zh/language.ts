import type { Language } from '../languages'

export const language: Language = {
  name: '简体中文',
  short: '中文',
  change: '切换到简体中文',
  day: 'M月D日',
  library: async () => (await import('./library')).zhCN,
}
