import type { activity as en } from '../en/activity'

export const activity: Record<keyof typeof en, string> = {
  'activity.about': '您的操作，以及管理员以您的身份进行的操作。',
  'activity.empty': '暂无记录。',
  'activity.more': '显示更多',
  'activity.by': '由 {name} 执行',
  'activity.as': '以 {name} 的身份',
  'activity.denied': '被拒绝',
  'activity.read': '读取 {route}',
  'activity.reason': '原因：{reason}',
}
