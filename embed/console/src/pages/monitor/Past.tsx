import { CalendarOutlined } from '@ant-design/icons'
import { Button } from 'antd'
import { lazy, Suspense, useState } from 'react'
import { t } from '../../i18n'
import { inAddress, type Span } from './span'

const Range = lazy(async () => ({ default: (await import('../../ui/Range')).Range }))

type Props = { span: Span; set: (values: Record<string, string | undefined>) => void }

// Past selects a period. The calendar is a tenth of the page's size, and loaded when a period
// is wanted.
export function Past({ span, set }: Props) {
  const [wanted, want] = useState(false)
  if (!wanted && span.to === undefined) {
    return (
      <Button icon={<CalendarOutlined />} onClick={() => want(true)}>
        {t('monitor.past')}
      </Button>
    )
  }
  const past = span.to === undefined ? [] : [new Date(span.from()).toISOString(), new Date(span.to).toISOString()]
  return (
    <Suspense fallback={<span style={{ width: 360, height: 32 }} />}>
      <Range
        time
        opens={wanted}
        label={t('monitor.past')}
        value={past}
        onChange={(range) => set(range ? { ...inAddress(Date.parse(range[0]), Date.parse(range[1])), live: undefined } : { from: undefined, to: undefined })}
      />
    </Suspense>
  )
}
