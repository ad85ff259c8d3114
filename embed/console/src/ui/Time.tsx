import dayjs from 'dayjs'
import relative from 'dayjs/plugin/relativeTime'

dayjs.extend(relative)

// Time shows a relative time, with the exact one as tooltip.
export function Time({ at }: { at: string | null }) {
  if (!at) return <>—</>
  const moment = dayjs(at)
  return (
    <time dateTime={at} title={moment.format('YYYY-MM-DD HH:mm:ss.SSS')}>
      {moment.fromNow()}
    </time>
  )
}
