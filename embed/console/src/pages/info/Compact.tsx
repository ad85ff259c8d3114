import { CompressOutlined } from '@ant-design/icons'
import { Alert, Button, Flex, Typography } from 'antd'
import { useEffect, useRef } from 'react'
import { post } from '../../api/request'
import type { CompactionState } from '../../api/types'
import { t } from '../../i18n'
import { bytes } from '../../ui/format'
import { Time } from '../../ui/Time'
import { useAction } from '../../ui/useAction'
import { useGet } from '../../ui/useGet'
import { useLatest } from '../../ui/useLatest'
import { usePoll } from '../../ui/usePoll'
import { Progress } from '../../ui/Progress'
import { percentOf, returned } from './compaction'

// Compact compacts the database files, and shows the progress and the result. ended is called when the
// files have changed.
export function Compact({ ended }: { ended: () => unknown }) {
  const { confirm, notify } = useAction()
  const { data: now, set, refresh } = useGet('/system/compact', {}, false)
  const running = now?.state === 'running'
  usePoll(refresh, 1, running)

  const latest = useLatest(() => {
    if (now?.state === 'done') notify(t('compact.done', { size: bytes(returned(now.files)) }))
    ended()
  })
  const was = useRef(false)
  useEffect(() => {
    if (was.current && !running) latest.current()
    was.current = running
  }, [running])

  async function compact() {
    if (!(await confirm({ title: t('compact.sure'), text: t('compact.what'), ok: t('compact'), harmless: true }))) return
    try {
      set(await post('/system/compact'))
    } catch (cause) {
      void refresh() // another user may have started it
      throw cause
    }
  }

  return (
    <Flex vertical gap={12} align="start">
      {running ? (
        <Flex gap={12} align="center" style={{ width: '100%', maxWidth: 480 }}>
          <Typography.Text>{t('compact.running')}</Typography.Text>
          <Progress percent={percentOf(now)} label={t('compact.running')} />
        </Flex>
      ) : (
        <Button icon={<CompressOutlined />} disabled={!now} onClick={() => void compact()}>
          {t('compact')}
        </Button>
      )}
      {now && !running && <Result last={now} />}
    </Flex>
  )
}

// Result shows what the last compaction since the start of the server has done.
function Result({ last }: { last: CompactionState }) {
  return (
    <>
      {last.error && <Alert type="error" showIcon title={t('compact.failed', { error: last.error })} />}
      {last.files.map(({ name, before_bytes, after_bytes }) => (
        <Typography.Text key={name}>
          {t('compact.result', { file: name, before: bytes(before_bytes), after: bytes(after_bytes) })}
          {last.ended_at && (
            <>
              {' '}
              (<Time at={last.ended_at} />)
            </>
          )}
        </Typography.Text>
      ))}
    </>
  )
}
