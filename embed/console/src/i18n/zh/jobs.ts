import type { jobs as en } from '../en/jobs'

export const jobs: Record<keyof typeof en, string> = {
  'jobs.empty': '暂无任务。导入用户等批量更改会列在这里。',
  'jobs.kind': '任务',
  'jobs.kind.user_import': '导入用户',
  'jobs.kind.app_user_import': '导入应用用户',
  'jobs.kind.user_update': '更新用户',
  'jobs.kind.user_delete': '删除用户',
  'jobs.kind.app_user_delete': '删除应用用户',
  'jobs.kind.file_trash': '将文件移到回收站',
  'jobs.kind.undo': '撤销',
  'jobs.user': '发起人',
  'jobs.state': '状态',
  'jobs.state.preparing': '准备中',
  'jobs.state.running': '进行中',
  'jobs.state.undoing': '回滚中',
  'jobs.state.done': '已完成',
  'jobs.state.failed': '失败',
  'jobs.progress': '进度',
  'jobs.of': '{done} / {total}',
  'jobs.started': '开始时间',
  'jobs.ended': '结束时间',
}
