import { DatePicker, TimePicker } from 'antd'
import dayjs from 'dayjs'
import parsing from 'dayjs/plugin/customParseFormat'
import { onEnter } from '../../ui/Moment'
import type { ControlProps } from './control-props'

dayjs.extend(parsing)

// Moment is a date, or a time of day, optionally with seconds.
export function Moment({ of, value = '', onChange, ...rest }: ControlProps) {
  const width = { width: '100%', maxWidth: 240 }
  if (of.type === 'date') {
    return (
      <DatePicker
        {...rest}
        style={width}
        onKeyDown={onEnter}
        value={value ? dayjs(value, 'YYYY-MM-DD') : null}
        onChange={(day) => onChange?.(day ? day.format('YYYY-MM-DD') : '')}
      />
    )
  }
  const format = (of.values || value).length === 5 ? 'HH:mm' : 'HH:mm:ss'
  return (
    <TimePicker
      {...rest}
      style={width}
      format={format}
      needConfirm={false}
      onKeyDown={onEnter}
      value={value ? dayjs(value, format) : null}
      onChange={(time) => onChange?.(time ? time.format(format) : '')}
    />
  )
}
