import dayjs from 'dayjs'
import relative from 'dayjs/plugin/relativeTime'

dayjs.extend(relative)

// Time shows a relative time, with the exact one as tooltip; or the exact time, to the second.
export function Time({ at, exact }: { at: string | null; exact?: boolean }) {
  if (!at) return <>—</>
  const moment = dayjs(at)
  return (
    <time dateTime={at} title={moment.format('YYYY-MM-DD HH:mm:ss.SSS')}>
      {exact ? moment.format('YYYY-MM-DD HH:mm:ss') : moment.fromNow()}
    </time>
  )
}
