import { Alert, Button } from 'antd'
import { useEffect, useState } from 'react'
import type { Change } from '../api/stream'
import { onChanges } from '../app/live'
import { t } from '../i18n'
import { Time } from './Time'

type Props = { collection: string; id: number; onReload?: () => void }

// Changed is a line in an open drawer once someone else has changed or deleted its record. What has
// been typed stays until the user reloads. A key renews it when the drawer shows the record again.
export function Changed({ collection, id, onReload }: Props) {
  const [change, setChange] = useState<Change>()
  useEffect(
    () =>
      onChanges((notice) => {
        if (notice !== 'missed' && notice.collection === collection && notice.record === id && !notice.written) setChange(notice)
      }),
    [collection, id],
  )
  if (!change) return null
  const deleted = change.operation === 'delete'
  const name = change.own ? '' : (change.actor?.name ?? '')
  return (
    <Alert
      type={deleted ? 'warning' : 'info'}
      showIcon
      role="status"
      title={
        <>
          {t(deleted ? (name ? 'form.deleted.by' : 'form.deleted') : name ? 'form.changed.by' : 'form.changed', { name })} · <Time at={change.at} />
        </>
      }
      action={
        !deleted &&
        onReload && (
          <Button size="small" onClick={onReload}>
            {t('reload')}
          </Button>
        )
      }
      style={{ marginBottom: 16 }}
    />
  )
}
