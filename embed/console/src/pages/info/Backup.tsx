import { DownloadOutlined } from '@ant-design/icons'
import { Alert, Button, Flex, Typography } from 'antd'
import { useRef, useState } from 'react'
import { Link } from 'react-router'
import { Failure, unconfirmed } from '../../api/request'
import { t } from '../../i18n'
import { bytes } from '../../ui/format'
import { words } from '../../ui/words'
import { useAction } from '../../ui/useAction'
import { Progress } from '../../ui/Progress'
import { saveBackup, straightToFile } from './save-backup'

// Backup downloads a backup to this device.
export function Backup() {
  const { notify } = useAction()
  const [got, setGot] = useState<{ bytes: number; of: number }>()
  const [problem, setProblem] = useState('')
  const stop = useRef<AbortController>(undefined)

  async function take() {
    setProblem('')
    const now = new AbortController()
    stop.current = now
    try {
      if (await saveBackup(now.signal, (bytes, of) => setGot({ bytes, of }))) notify(t('backup.done'))
    } catch (cause) {
      if (!now.signal.aborted && !unconfirmed(cause)) setProblem(cause instanceof Failure ? words(cause) : t('backup.broken'))
    } finally {
      setGot(undefined)
    }
  }

  return (
    <Flex vertical gap={12} align="start">
      <Typography.Text>{t('backup.what')}</Typography.Text>
      {!straightToFile && <Typography.Text type="secondary">{t('backup.whole')}</Typography.Text>}
      {problem && <Alert type="error" showIcon title={problem} />}
      {got ? (
        <Flex gap={12} align="center" style={{ width: '100%', maxWidth: 480 }}>
          <Progress percent={got.of ? Math.floor((got.bytes / got.of) * 100) : 0} label={t('backup.take')} />
          <Typography.Text type="secondary">
            {bytes(got.bytes)} / {bytes(got.of)}
          </Typography.Text>
          <Button size="small" onClick={() => stop.current?.abort()}>
            {t('cancel')}
          </Button>
        </Flex>
      ) : (
        <Button icon={<DownloadOutlined />} onClick={() => void take()}>
          {t('backup.take')}
        </Button>
      )}
      <Typography.Text type="secondary">
        {t('backup.restore')} <Typography.Text code>reeve restore FILE</Typography.Text>{' '}
        <Link to="/help/backups" style={{ textDecoration: 'underline' }}>
          {t('backup.restore.how')}
        </Link>
      </Typography.Text>
    </Flex>
  )
}
