import type { manual as en } from '../en/manual'

export const manual: Record<keyof typeof en, string> = {
  'manual.topics': '主题',
  'manual.search': '搜索手册',
  'manual.missing': '页面不存在',
  'manual.reference': 'API 参考',
  'manual.find': '按名称、路径或权限搜索接口',
  'manual.operations': '{n} 个接口',
  'manual.no_document': '无法加载 API 描述，请刷新重试。',
  'manual.back': '全部接口',
  'manual.parameters': '参数',
  'manual.in': '位置',
  'manual.type': '类型',
  'manual.required': '（必填）',
  'manual.body': '请求体',
  'manual.answer': '响应',
  'manual.errors': '错误',
  'manual.try': '试一试',
  'manual.try.send': '发送请求',
  'manual.try.writes': '此请求会更改服务器上的数据。',
  'manual.try.upload': '带文件的请求可以用 curl 发送。',
  'manual.try.json': '请输入有效的 JSON。',
}
