import { FilterOutlined } from '@ant-design/icons'
import { AutoComplete, Badge, Button, Checkbox, Flex, Input, Select } from 'antd'
import { useState } from 'react'
import { t } from '../../i18n'
import { clear } from '../../ui/clear'
import { useDebounced } from '../../ui/useDebounced'
import { useWider } from '../../ui/useWider'
import { filterName, word } from './words'
import { type Filter, filters, type Kind } from './kinds'
import { UserPick } from './UserPick'
import { folded, has } from '../../ui/fold'

type Props = {
  kind: Kind
  params: URLSearchParams
  set: (values: Record<string, string | undefined>) => void
  narrowed: number
  clear: () => void
  routes: string[]
}

// Filters are the filters of a list. A phone shows them behind a button.
export function Filters({ kind, params, set, narrowed, clear, routes }: Props) {
  const md = useWider('md')
  const [open, setOpen] = useState(false)
  const clearing = narrowed > 0 && (
    <Button type="link" onClick={clear}>
      {t('empty.clear')}
    </Button>
  )
  return (
    <div style={{ marginBottom: 16 }}>
      {!md && (
        <Flex gap={8} wrap>
          <Badge count={narrowed} size="small">
            <Button icon={<FilterOutlined />} aria-expanded={open} onClick={() => setOpen(!open)}>
              {t('monitor.filters')}
            </Button>
          </Badge>
          {clearing}
        </Flex>
      )}
      {(md || open) && (
        <div
          style={
            md
              ? { display: 'flex', flexWrap: 'wrap', gap: 8, alignItems: 'center' }
              : { display: 'grid', gridTemplateColumns: '1fr 1fr', gap: 8, alignItems: 'center', marginTop: 12 }
          }
        >
          <Text name="keywordSearch" params={params} set={set} width={md ? 220 : '100%'} />
          {filters[kind].map((filter) => (
            <One key={filter.name} filter={filter} params={params} set={set} routes={routes} fill={!md} />
          ))}
          {md && clearing}
        </div>
      )}
    </div>
  )
}

type OneProps = { filter: Filter; params: URLSearchParams; set: Props['set']; routes: string[]; fill: boolean }

function One({ filter, params, set, routes, fill }: OneProps) {
  const width = (pixels: number) => (fill ? '100%' : pixels)
  const { name } = filter
  const value = params.get(name) ?? undefined
  const label = filterName(name)
  switch (filter.by) {
    case 'user': {
      const app = params.get('app_user_id')
      return (
        <UserPick
          app
          width={width(200)}
          value={app ? `app:${app}` : value && `admin:${value}`}
          onChange={(picked) => {
            const [realm, id] = (picked ?? '').split(':')
            set({ user_id: realm === 'admin' ? id : undefined, app_user_id: realm === 'app' ? id : undefined })
          }}
        />
      )
    }
    case 'choice':
      return (
        <Select
          allowClear
          style={{ width: width(140) }}
          placeholder={label}
          aria-label={label}
          value={value}
          onChange={(v?: string) => set({ [name]: v })}
          options={filter.values.map((v) => ({ value: v, label: word(name, v) }))}
        />
      )
    case 'flag':
      return (
        <Checkbox checked={value === '1'} onChange={(e) => set({ [name]: e.target.checked ? '1' : undefined })}>
          {label}
        </Checkbox>
      )
    case 'number':
      return <Least name={name} params={params} set={set} width={width(150)} />
    case 'route':
      return <Text name={name} params={params} set={set} width={width(200)} options={routes} />
    default:
      return <Text name={name} params={params} set={set} width={width(150)} />
  }
}

type Field = { name: string; params: URLSearchParams; set: Props['set'] }

const useText = ({ name, params, set }: Field) => useDebounced(params.get(name) ?? '', (text) => set({ [name]: text }), 400)

function Text({ width, options, ...field }: Field & { width: number | string; options?: string[] }) {
  const [text, setText] = useText(field)
  const label = filterName(field.name)
  if (options?.length) {
    return (
      <AutoComplete
        allowClear
        style={{ width }}
        placeholder={label}
        aria-label={label}
        value={text}
        onChange={(v?: string) => setText(v ?? '')}
        popupMatchSelectWidth={false}
        showSearch={{ filterOption: (typed, option) => has(folded(typed), String(option?.value)) }}
        options={options.map((value) => ({ value }))}
      />
    )
  }
  return <Input allowClear={clear()} style={{ width }} placeholder={label} aria-label={label} value={text} onChange={(e) => setText(e.target.value)} />
}

function Least({ width, ...field }: Field & { width: number | string }) {
  const [text, setText] = useText(field)
  const label = filterName(field.name)
  return (
    <Input
      inputMode="numeric"
      style={{ width }}
      placeholder={label}
      aria-label={label}
      suffix="ms"
      value={text}
      onChange={(e) => setText(e.target.value.replace(/\D/g, ''))}
    />
  )
}
