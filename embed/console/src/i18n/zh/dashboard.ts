import type { dashboard as en } from '../en/dashboard'

export const dashboard: Record<keyof typeof en, string> = {
  'home.hello': '您好，{name}',
  'home.account': '您的账户',
  'home.roles': '角色',
  'home.dept': '部门',
  'home.last': '最近登录',
}
