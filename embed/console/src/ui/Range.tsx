import { DatePicker } from 'antd'
import dayjs from 'dayjs'

type Props = {
  label: string
  value: string[]
  onChange: (range?: [string, string]) => void
  future?: boolean
  time?: boolean // selects times instead of days
  opens?: boolean // opens with the focus in it
}

// Range selects days in this device's time zone, from the start of the first to the end of
// the last, or times, as UTC timestamps.
export function Range({ label, value: [from, to], onChange, future = false, time = false, opens = false }: Props) {
  return (
    <DatePicker.RangePicker
      allowEmpty={[true, true]} // otherwise Tab can't leave it while it is empty
      autoFocus={opens}
      defaultOpen={opens}
      showTime={time}
      needConfirm={false}
      format={time ? 'YYYY-MM-DD HH:mm:ss' : 'YYYY-MM-DD'}
      style={{ width: time ? 360 : 240, maxWidth: '100%' }}
      aria-label={label}
      value={from && to ? [dayjs(from), dayjs(to)] : null}
      disabledDate={future ? undefined : (day) => day.isAfter(dayjs(), 'day')}
      onChange={(days) => {
        const [first, last] = days ?? []
        if (!first || !last) onChange(undefined)
        else if (time) onChange([first.toISOString(), last.toISOString()])
        else onChange([first.startOf('day').toISOString(), last.endOf('day').toISOString()])
      }}
    />
  )
}
