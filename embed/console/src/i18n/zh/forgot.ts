import type { forgot as en } from '../en/forgot'

export const forgot: Record<keyof typeof en, string> = {
  'forgot.title': '请输入用户名或邮箱，系统将发送邮件，通过其中的链接可设置新密码。',
  'forgot.who': '用户名或邮箱',
  'forgot.send': '发送链接',
  'forgot.sent': '如果该用户存在，包含链接的邮件即将送达。链接一小时内有效。',
  'forgot.failed': '无法发送链接，请重试。',
  'forgot.back': '返回登录',
}
