import type { connect as en } from '../en/connect'

export const connect: Record<keyof typeof en, string> = {
  'connect.continue': '使用 {title} 继续',
  'connect.last': '上次使用',
  'connect.choose': '登录提供方',
  'connect.tab': '登录将在新标签页中打开。在那里登录后，此页面会继续。',
  'connect.arriving': '正在登录…',
  'connect.link': '已有账号使用您的邮箱。请用密码或通行密钥登录该账号：登录后即会连接该提供方，以后可以用它登录。',
  'connect.linking': '正在连接提供方…',
  'connect.linked': '已连接 {title}。以后可以用它登录。',
  'connect.not_linked': '您已登录，但未能连接提供方：{reason}',
  'connect.go_on': '继续',
  // My account
  'connect.about': '您可以在这些地方登录，而不必在此输入密码。',
  'connect.none': '您尚未连接任何提供方。',
  'connect.connect.to': '连接：{title}',
  'connect.connected': '已连接 {title}。',
  'connect.disconnect': '断开连接',
  'connect.disconnect.from': '断开连接：{title}',
  'connect.disconnect.sure': '断开与 {title} 的连接？',
  'connect.disconnect.text': '您将不能再用它登录，并失去仅通过它获得的角色；通过它登录的会话也会结束。',
  'connect.disconnected': '已断开与 {title} 的连接。',
  'connect.since': '连接时间：',
  'connect.used': '上次登录：',
}
