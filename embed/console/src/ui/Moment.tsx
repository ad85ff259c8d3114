import { DatePicker } from 'antd'
import dayjs from 'dayjs'
import type { KeyboardEvent } from 'react'

export type Props = {
  id?: string
  value: string // RFC 3339 in UTC, or a day as YYYY-MM-DD; '' for none
  onChange: (value: string) => void
  exact?: 'day' | 'minute' | 'second'
  min?: string // days
  max?: string
  disabled?: boolean
  status?: 'error'
  'aria-label'?: string
  'aria-describedby'?: string
}

const formats = { day: 'YYYY-MM-DD', minute: 'YYYY-MM-DD HH:mm', second: 'YYYY-MM-DD HH:mm:ss' }

// On a phone, the calendar is moved into the window where it fits neither below the field nor above.
const overflow = { adjustX: 1, adjustY: 1, shiftX: true, shiftY: true } as const
const placements = { bottomLeft: { points: ['tl', 'bl'], offset: [0, 4], overflow }, topLeft: { points: ['bl', 'tl'], offset: [0, -4], overflow } }

// onEnter lets Enter end the typing of a date instead of saving the form.
export function onEnter(e: KeyboardEvent): void {
  if (e.key === 'Enter' && !e.ctrlKey && !e.metaKey) e.preventDefault()
}

// Moment selects a day, or a time in this device's time zone. Pages show it by LazyMoment.
export function Moment({ value, onChange, exact = 'minute', min, max, ...rest }: Props) {
  const format = formats[exact]
  const at = dayjs(value)
  return (
    <DatePicker
      {...rest}
      style={{ width: exact === 'day' ? 160 : 240, maxWidth: '100%' }}
      format={format}
      placeholder={format}
      showTime={exact !== 'day' && { format: format.slice(11) }}
      needConfirm={false}
      builtinPlacements={placements}
      minDate={min ? dayjs(min) : undefined}
      maxDate={max ? dayjs(max) : undefined}
      value={at.isValid() ? at : null}
      onKeyDown={onEnter}
      onChange={(day) => onChange(!day ? '' : exact === 'day' ? day.format(format) : day.startOf(exact).toISOString().replace('.000Z', 'Z'))}
    />
  )
}
