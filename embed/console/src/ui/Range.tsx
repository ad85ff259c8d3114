import { DatePicker } from 'antd'
import dayjs from 'dayjs'

type Props = { label: string; value: string[]; onChange: (range?: [string, string]) => void; future?: boolean }

// Range selects days in this device's time zone, from the start of the first to the end of
// the last, as UTC timestamps.
export function Range({ label, value: [from, to], onChange, future = false }: Props) {
  return (
    <DatePicker.RangePicker
      allowEmpty={[true, true]} // otherwise Tab can't leave it while it is empty
      style={{ width: 240 }}
      aria-label={label}
      value={from && to ? [dayjs(from), dayjs(to)] : null}
      disabledDate={future ? undefined : (day) => day.isAfter(dayjs(), 'day')}
      onChange={(days) => onChange(days?.[0] && days[1] ? [days[0].startOf('day').toISOString(), days[1].endOf('day').toISOString()] : undefined)}
    />
  )
}
