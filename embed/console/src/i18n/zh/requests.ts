import type { requests as en } from '../en/requests'

export const requests: Record<keyof typeof en, string> = {
  'requests.text':
    '此页面最近的请求，最新的在前，以程序调用的方式显示；API 密钥取自变量 REEVE_KEY。' + '密码、验证码、设置的值和文件内容不会显示，以 … 和 @FILE 代替。',
  'requests.none': '此页面尚未发出自己的请求。先使用页面，再回到这里查看。',
  'requests.reference': '在 API 参考中打开',
}
