import type { strength as en } from '../en/strength'

export const strength: Record<keyof typeof en, string> = {
  'strength.weak': '强度：弱。',
  'strength.fair': '强度：一般。',
  'strength.good': '强度：较强。',
  'strength.strong': '强度：强。',
  'strength.hint.common': '与常见密码相似。',
  'strength.hint.own': '请勿使用您的名称或邮箱。',
  'strength.hint.keys': '请勿使用键盘上相邻的按键。',
  'strength.hint.repeat': '请避免重复的内容。',
  'strength.hint.sequence': '请避免 abc、6543 等连续字符。',
  'strength.hint.date': '请避免日期和年份。',
  'strength.hint.more': '请再添加一两个词。',
}
