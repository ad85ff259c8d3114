import type { sessions as en } from '../en/sessions'

export const sessions: Record<keyof typeof en, string> = {
  'loginlog.result': '结果',
  'loginlog.reason': '原因',
  'loginlog.success': '登录成功',
  'loginlog.failed': '失败',
  'loginlog.throttled': '被限制',
  'loginlog.unknown_user': '用户不存在',
  'loginlog.wrong_password': '密码错误',
  'loginlog.disabled': '用户已停用',
  'sessions.ended': '{name} 已退出。',
  'sessions.end': '强制退出',
  'sessions.end.sure': '立即让 {name} 退出？未保存的内容将丢失。',
  'sessions.app': '应用',
  'sessions.current': '当前会话',
  'sessions.begun': '登录时间',
  'sessions.used': '最近使用',
}
