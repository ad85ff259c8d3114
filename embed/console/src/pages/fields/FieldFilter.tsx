import { DatePicker, Flex, Input, InputNumber, Select } from 'antd'
import dayjs from 'dayjs'
import type { FieldForm } from '../../api/types'
import { t } from '../../i18n'
import { clear } from '../../ui/clear'
import { useTyped } from '../../ui/useTyped'
import { choose, chosen } from './filters'
import { nameOf } from './values'

type List = { params: URLSearchParams; set: (values: Record<string, string | string[] | undefined>) => void }
type Props = { list: List; field: FieldForm }

// FieldFilter filters a list by a custom field: by some of its choices, by a range of numbers or days, or by a
// value.
export function FieldFilter({ list, field }: Props) {
  switch (field.type) {
    case 'radio':
    case 'select':
    case 'checkbox':
    case 'switch':
      return <Choices list={list} field={field} />
    case 'number':
      return <Numbers list={list} field={field} />
    case 'date':
      return <Days list={list} field={field} />
    default:
      return <Exact list={list} field={field} />
  }
}

function Choices({ list: { params, set }, field: { key, title, type, options } }: Props) {
  const name = nameOf(key)
  const onOff = [
    { value: '1', label: t('yes') },
    { value: '0', label: t('no') },
  ]
  return (
    <Select<string[]>
      mode="multiple"
      allowClear
      style={{ width: '100%' }}
      aria-label={title}
      placeholder={t('all')}
      showSearch={{ optionFilterProp: 'label' }}
      options={type === 'switch' ? onOff : options}
      value={chosen(params, name)}
      onChange={(values) => set(choose(params, name, values))}
    />
  )
}

function Numbers({ list, field: { key, title } }: Props) {
  const { low, high, setLow, setHigh } = bounds(list, `${nameOf(key)}[]`)
  const [from, setFrom] = useTyped(low, setLow)
  const [to, setTo] = useTyped(high, setHigh)
  const bound = (label: string, text: string, setText: (text: string) => void) => (
    <InputNumber<string>
      stringMode
      style={{ flex: 1, minWidth: 0 }}
      aria-label={label}
      value={text === '' ? null : text}
      onChange={(n) => setText(n === null ? '' : String(n))}
    />
  )
  return (
    <Flex gap={8} align="center">
      {bound(t('people.filter.from', { title }), from, setFrom)}
      <span aria-hidden>–</span>
      {bound(t('people.filter.to', { title }), to, setTo)}
    </Flex>
  )
}

function Days({ list, field: { key, title } }: Props) {
  const { low, high, set } = bounds(list, `${nameOf(key)}[]`)
  const day = (text: string) => (text ? dayjs(text) : null)
  return (
    <DatePicker.RangePicker
      allowEmpty={[true, true]} // otherwise Tab can't leave it while it is empty
      style={{ width: '100%' }}
      aria-label={title}
      placement="bottomRight"
      value={[day(low), day(high)]}
      onChange={(days) => set(days?.[0]?.format('YYYY-MM-DD') ?? '', days?.[1]?.format('YYYY-MM-DD') ?? '')}
    />
  )
}

// bounds is a range in the address; '' is no bound.
function bounds({ params, set }: List, name: string) {
  const [low = '', high = ''] = params.getAll(name)
  const put = (from: string, to: string) => set({ [name]: from || to ? [from, to] : undefined })
  return { low, high, set: put, setLow: (text: string) => put(text, high), setHigh: (text: string) => put(low, text) }
}

function Exact({ list: { params, set }, field: { key, title } }: Props) {
  const name = nameOf(key)
  const [text, setText] = useTyped(params.get(name) ?? '', (value) => set({ [name]: value }))
  return <Input allowClear={clear()} aria-label={title} placeholder={t('people.filter.exact')} value={text} onChange={(e) => setText(e.target.value)} />
}
