import { lazy, Suspense } from 'react'
import type { Props } from './Moment'

const Moment = lazy(async () => ({ default: (await import('./Moment')).Moment }))

// LazyMoment selects a day or a time. The calendar is large, and loaded after the form.
export function LazyMoment(props: Props) {
  return (
    <Suspense fallback={<span style={{ display: 'inline-block', width: props.exact === 'day' ? 160 : 240, height: 32 }} />}>
      <Moment {...props} />
    </Suspense>
  )
}
