import { Alert, Button, Flex, Typography } from 'antd'
import { useState } from 'react'
import { Failure, post } from '../../api/request'
import type { FlagPreview as Answer } from '../../api/types'
import { t } from '../../i18n'
import { count } from '../../ui/format'
import { words } from '../../ui/words'

type Shown = { of: string; answer?: Answer; fault?: string }

// FlagPreview shows which users get which variant of a flag that need not be saved.
export function FlagPreview({ name, value }: { name: string; value: string }) {
  const [shown, setShown] = useState<Shown>()
  const [busy, setBusy] = useState(false)

  async function ask() {
    setBusy(true)
    try {
      setShown({ of: value, answer: await post('/system/setting/flag-preview', { key: name, values: value }, { quiet: true }) })
    } catch (cause) {
      if (!(cause instanceof Failure)) throw cause
      setShown({ of: value, fault: cause.errors.values ?? words(cause) })
    } finally {
      setBusy(false)
    }
  }

  const { answer, fault } = shown?.of === value ? shown : {}
  return (
    <>
      <Button loading={busy} onClick={() => void ask()}>
        {t('flags.preview')}
      </Button>
      <div role="status" style={{ flex: '1 0 100%' }}>
        {fault && <Alert type="error" showIcon title={fault} />}
        {answer && (
          <Flex vertical gap={8}>
            <Typography.Text type="secondary">
              {answer.total > answer.users
                ? t('flags.preview.sample', { n: count(answer.users), of: count(answer.total) })
                : t('flags.preview.users', { n: answer.users })}
            </Typography.Text>
            {answer.variants.map((v) => (
              <div key={v.variant} style={{ overflowWrap: 'anywhere' }}>
                <b>{v.variant}</b> {t('flags.preview.count', { n: v.count })}
                {v.first.length > 0 && (
                  <div>
                    <bdi>{v.first.map((u) => u.nickname || u.username).join(', ')}</bdi>
                    {v.count > v.first.length && '…'}
                  </div>
                )}
              </div>
            ))}
          </Flex>
        )}
      </div>
    </>
  )
}
