import { DatePicker, Flex, Input, InputNumber, Select } from 'antd'
import dayjs from 'dayjs'
import type { FieldForm } from '../../api/types'
import { t } from '../../i18n'
import { clear } from '../../ui/clear'
import { useDebounced } from '../../ui/useDebounced'
import { choose, chosen } from '../fields/filters'
import { nameOf } from '../fields/values'
import { byLabel } from '../../ui/fold'

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
  const [values, setValues] = useEdited(chosen(params, name), (next) => set(choose(params, name, next)), 0)
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
      showSearch={byLabel}
      options={type === 'switch' ? onOff : options}
      value={values}
      onChange={setValues}
    />
  )
}

function Numbers({ list: { params, set }, field: { key, title } }: Props) {
  const name = `${nameOf(key)}[]`
  const [[from = '', to = ''], setBounds] = useEdited(params.getAll(name), (bounds) => set({ [name]: range(bounds) }))
  const bound = (label: string, text: string, put: (text: string) => void) => (
    <InputNumber<string>
      stringMode
      style={{ flex: 1, minWidth: 0 }}
      aria-label={label}
      value={text === '' ? null : text}
      onChange={(n) => put(n === null ? '' : String(n))}
    />
  )
  return (
    <Flex gap={8} align="center">
      {bound(t('people.filter.from', { title }), from, (text) => setBounds([text, to]))}
      <span aria-hidden>–</span>
      {bound(t('people.filter.to', { title }), to, (text) => setBounds([from, text]))}
    </Flex>
  )
}

function Days({ list: { params, set }, field: { key, title } }: Props) {
  const name = `${nameOf(key)}[]`
  const [from, to] = params.getAll(name)
  const day = (text?: string) => (text ? dayjs(text) : null)
  return (
    <DatePicker.RangePicker
      allowEmpty={[true, true]} // otherwise Tab can't leave it while it is empty
      style={{ width: '100%' }}
      aria-label={title}
      placement="bottomRight"
      value={[day(from), day(to)]}
      onChange={(days) => set({ [name]: range([0, 1].map((n) => days?.[n]?.format('YYYY-MM-DD') ?? '')) })}
    />
  )
}

// range is a parameter of two bounds, of which '' is none.
const range = (bounds: string[]) => (bounds.some(Boolean) ? bounds : undefined)

// useEdited is useDebounced for several texts.
function useEdited(asked: string[], tell: (texts: string[]) => void, pause?: number) {
  const [json, setJson] = useDebounced(JSON.stringify(asked), (edited) => tell(JSON.parse(edited) as string[]), pause)
  return [JSON.parse(json) as string[], (texts: string[]) => setJson(JSON.stringify(texts))] as const
}

function Exact({ list: { params, set }, field: { key, title } }: Props) {
  const name = nameOf(key)
  const [text, setText] = useDebounced(params.get(name) ?? '', (value) => set({ [name]: value }))
  return <Input allowClear={clear()} aria-label={title} placeholder={t('people.filter.exact')} value={text} onChange={(e) => setText(e.target.value)} />
}
