import { Button, Flex, Typography } from 'antd'
import { Link } from 'react-router'
import { post } from '../../api/request'
import { useAccount } from '../../app/account'
import { t } from '../../i18n'
import { useAction } from '../../ui/useAction'

// MoveContents moves the contents of files to the bucket, or back from it, in a job.
export function MoveContents() {
  const { may } = useAccount()
  const { confirm, notify } = useAction()

  async function move(to: 's3' | 'local') {
    if (!(await confirm({ title: t(`contents.${to}.sure`), text: t('contents.what'), ok: t(`contents.${to}`), harmless: true }))) return
    await post('/system/file-move', { to })
    notify(t('contents.begun'))
  }
  async function cancel() {
    await post('/system/file-move/cancel')
    notify(t('contents.cancelled'))
  }

  return (
    <Flex vertical gap={8}>
      <Typography.Text type="secondary">{t('contents.where')}</Typography.Text>
      <Flex gap={8} wrap align="center">
        <Button onClick={() => void move('s3')}>{t('contents.s3')}</Button>
        <Button onClick={() => void move('local')}>{t('contents.local')}</Button>
        <Button onClick={() => void cancel()}>{t('contents.cancel')}</Button>
        {may('system.job.query') && <Link to="/system/job">{t('contents.jobs')}</Link>}
      </Flex>
    </Flex>
  )
}
