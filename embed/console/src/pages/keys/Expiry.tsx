import { Flex, Select } from 'antd'
import dayjs from 'dayjs'
import { t } from '../../i18n'
import { LazyMoment } from '../../ui/LazyMoment'
import { type Lifetime, presets } from './key'

type Props = {
  id?: string
  value?: Lifetime
  onChange?: (lifetime: Lifetime) => void
  most: number // days
  expires?: string // present expiration of the key
}

const inDays = (days: number) => dayjs().add(days, 'day').format('YYYY-MM-DD')

// Expiry selects until when a key is valid.
export function Expiry({ id, value, onChange, most, expires }: Props) {
  const kind = !value ? undefined : 'days' in value ? String(value.days) : 'date' in value ? 'date' : 'keep'

  function choose(to: string) {
    if (to === 'keep') onChange?.({ keep: true })
    else if (to === 'date') onChange?.({ date: expires ? dayjs(expires).format('YYYY-MM-DD') : inDays(Math.min(90, most)) })
    else onChange?.({ days: Number(to) })
  }

  return (
    <Flex gap={8} wrap>
      <Select<string>
        id={id}
        style={{ flex: '1 1 200px' }}
        value={kind}
        onChange={choose}
        options={[
          ...(expires ? [{ value: 'keep', label: t('keys.expires.keep', { date: dayjs(expires).format('YYYY-MM-DD') }) }] : []),
          ...presets(most).map((days) => ({ value: String(days), label: t('keys.expires.days', { n: days, date: inDays(days) }) })),
          { value: 'date', label: t('keys.expires.date') },
        ]}
      />
      {value && 'date' in value && (
        <LazyMoment
          exact="day"
          aria-label={t('keys.expires.date')}
          min={inDays(0)}
          max={inDays(most)}
          value={value.date}
          onChange={(date) => onChange?.({ date })}
        />
      )}
    </Flex>
  )
}
