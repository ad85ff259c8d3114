import type { account as en } from '../en/account'

export const account: Record<keyof typeof en, string> = {
  'account': '我的账号',
  'account.profile': '个人资料',
  'account.security': '安全',
  'account.sign_ins': '登录记录',
  'account.device.is': '{os} 上的 {browser}',
  'account.device.unknown': '未知设备',
  'account.nickname': '昵称',
  'account.email': '邮箱',
  'account.verified': '已验证',
  'account.verify': '验证',
  'account.verify.not': '未验证。',
  'account.verify.sent': '包含链接的邮件即将发送至 {email}，请在一小时内打开链接。',
  'account.mobile': '手机号',
  'account.sex': '性别',
  'account.sex.0': '未填写',
  'account.sex.1': '男',
  'account.sex.2': '女',
  'picture.change': '更换头像',
}
