import type { first as en } from '../en/first'

export const first: Record<keyof typeof en, string> = {
  'sign_in': '登录',
  'sign_in.username': '用户名',
  'sign_in.password': '密码',
  'sign_in.failed': '登录失败',
  'sign_in.ended': '会话已结束。请登录以返回刚才的页面。',
  'sign_out': '退出登录',
  'password.must_change': '请先设置您自己的密码，然后继续。',
  'password.old': '当前密码',
  'password.new': '新密码',
  'password.again': '再次输入新密码',
  'password.change': '修改密码',
  'password.differ': '两次输入的新密码不一致。',
  'state.reload': '重新加载页面',
  'error.offline': '此设备已离线。',
  'error.unreachable': '服务器没有响应，可能正在重启，请稍后重试。',
  'error.wrong_credentials': '用户名或密码错误。',
  'error.too_many_requests': '尝试次数过多，请稍后再试。',
  'error.internal': '服务器出现错误，日志编号 {request}。',
}
