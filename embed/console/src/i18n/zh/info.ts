import type { info as en } from '../en/info'

export const info: Record<keyof typeof en, string> = {
  'info.not_well': '部分组件状态异常，请见下方。',
  'info.parts': '组件',
  'info.part': '组件',
  'info.state': '状态',
  'info.text': '说明',
  'info.program': '程序',
  'info.version': '版本',
  'info.started': '启动时间',
  'info.platform': '平台',
  'info.memory': '内存',
  'info.files': '数据库文件',
  'info.file': '文件',
  'info.size': '大小',
  'info.free': '内部空闲',
  'info.config': '生效的配置',
  'info.key': '键',
  'info.value': '值',
  'info.source': '来源',
}
