import { Select } from 'antd'
import type { EventType } from '../../api/types'
import { t } from '../../i18n'
import { what } from '../../ui/log/words'
import { useGet } from '../../ui/useGet'
import { folded, has } from '../../ui/fold'

type Props = { id?: string; value?: string[]; onChange?: (types: string[]) => void }

// TypesSelect selects types of events: all, those of a collection, or one.
export function TypesSelect(props: Props) {
  const { data, loading } = useGet('/system/event-type')
  return (
    <Select<string[]>
      {...props}
      mode="multiple"
      loading={loading}
      showSearch={{
        filterOption: (typed, option) => has(folded(typed), `${option?.label} ${option && 'value' in option ? option.value : ''}`),
      }}
      options={[{ value: '*', label: t('webhooks.types.all') }, ...groups(data?.data ?? [])]}
    />
  )
}

const capital = (text: string) => text.slice(0, 1).toUpperCase() + text.slice(1)

// groups are the types by what they are about, each with one for all of them.
function groups(types: EventType[]) {
  const objects = new Map<string, string[]>()
  for (const { type } of types) {
    const object = type.split('.', 1)[0] ?? ''
    objects.set(object, [...(objects.get(object) ?? []), type])
  }
  return [...objects].map(([object, of]) => ({
    label: object === 'audit' ? t('webhooks.types.actions') : capital(what(t, object)),
    options: [...(of.length > 1 ? [{ value: `${object}.*`, label: `${object}.*` }] : []), ...of.map((value) => ({ value, label: value }))],
  }))
}
