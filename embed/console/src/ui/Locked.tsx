import dayjs from 'dayjs'
import { t } from '../i18n'

// Locked says until when a person can't sign in, and after how many failed sign-ins if that is known.
export function Locked({ until, tries }: { until: string; tries?: number }) {
  const end = dayjs(until)
  const time = end.format(end.isSame(dayjs(), 'day') ? 'HH:mm' : 'YYYY-MM-DD HH:mm')
  return <span title={end.format('YYYY-MM-DD HH:mm:ss')}>{tries ? t('locked.tries', { time, n: tries }) : t('locked', { time })}</span>
}
