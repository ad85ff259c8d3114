import { Alert, Card, Flex } from 'antd'
import { Link } from 'react-router'
import type { Change, Job } from '../../api/types'
import { useAccount } from '../../app/account'
import { t } from '../../i18n'
import { activity } from '../../ui/log/address'
import { Progress } from '../../ui/Progress'
import { Plan } from './Plan'

// Done is what applying a setup has changed, or how far its job is.
export function Done({ changes, entry, job }: { changes: Change[]; entry: number; job: Job | undefined }) {
  const { may } = useAccount()
  if (job?.state === 'failed') return <Alert type="error" showIcon title={t('setup.failed', { why: job.msg })} style={{ overflowWrap: 'anywhere' }} />
  const running = job !== undefined && job.state !== 'done'
  return (
    <Flex vertical gap={16}>
      <Alert
        type={running ? 'info' : 'success'}
        showIcon
        title={running ? t('setup.applying') : changes.length > 0 ? t('setup.applied', { n: changes.length }) : t('setup.no_changes')}
        description={
          (job || entry > 0) && (
            <>
              {running && <Progress percent={job.total ? Math.floor((job.done / job.total) * 100) : 0} label={t('setup.applying')} />}
              {may('system.audit.query') && <Link to={job ? activity({ job: job.id }) : `/system/audit/${entry}`}>{t('setup.entry')}</Link>}
            </>
          )
        }
      />
      {changes.length > 0 && (
        <Card>
          <Plan changes={changes} />
        </Card>
      )}
    </Flex>
  )
}
