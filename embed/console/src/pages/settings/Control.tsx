import { Checkbox, Input, InputNumber, Radio, Select, Skeleton, Switch } from 'antd'
import TextArea from 'antd/es/input/TextArea'
import { lazy, Suspense } from 'react'
import type { Setting } from '../../api/types'
import { given, loadTexts, t } from '../../i18n'
import { Color } from './Color'
import { type ControlProps, lines } from './control-props'
import { Image } from './Image'
import { Json } from './Json'
import { Secret } from './Secret'
import { byLabel } from '../../ui/fold'

// The calendar is large, and most setting pages do not need it.
const Moment = lazy(async () => ({ default: (await import('./Moment')).Moment }))

// So is the editor of flags, with its texts.
const FlagEditor = lazy(async () => {
  const [{ FlagEditor }] = await Promise.all([import('../flags/FlagEditor'), loadTexts('flags')])
  return { default: FlagEditor }
})

// Control is the form control of a setting type. All of them read and write the stored
// text.
export function Control(all: ControlProps) {
  const { of, value = '', onChange, ...rest } = all
  const hint = (name: string) => of.props.find((p) => p.name === name)?.value
  const limit = Number(hint('maxlength')) || undefined
  const length = { maxLength: limit, count: limit ? { show: true } : undefined }
  const options = of.options.map((o) => ({ value: o.value, label: given(o.label) }))
  const width = { width: '100%' }
  const wrapped = { maxWidth: '100%', overflowWrap: 'anywhere', overflow: 'clip', overflowClipMargin: 4 } as const // some texts can't be wrapped
  switch (of.type) {
    case 'textarea':
      return (
        <TextArea
          {...rest}
          {...length}
          rows={Number(hint('rows')) || lines(value)}
          placeholder={hint('placeholder')}
          value={value}
          onChange={(e) => onChange?.(e.target.value)}
        />
      )
    case 'number':
      return (
        <InputNumber
          {...rest}
          stringMode
          style={{ ...width, maxWidth: 240 }}
          step={hint('step')}
          suffix={<Unit text={hint('unit') ?? unitOf(of.key ?? '')} />}
          placeholder={hint('placeholder')}
          value={value === '' ? null : value}
          onChange={(n) => onChange?.(n === null ? '' : String(n))}
        />
      )
    case 'switch':
      return <Switch {...rest} checked={value === '1'} onChange={(on) => onChange?.(on ? '1' : '0')} />
    case 'select':
      return (
        <Select
          {...rest}
          allowClear
          showSearch={options.length > 10 ? byLabel : false}
          style={width}
          placeholder={hint('placeholder')}
          options={options}
          value={value || undefined}
          onChange={(v?: string) => onChange?.(v ?? '')}
        />
      )
    case 'radio':
      return <Radio.Group {...rest} style={wrapped} options={options} value={value} onChange={(e) => onChange?.(String(e.target.value))} />
    case 'checkbox':
      return options.length > 12 ? (
        <Select
          {...rest}
          mode="multiple"
          allowClear
          style={width}
          options={options}
          showSearch={byLabel}
          value={several(value)}
          onChange={(v: string[]) => onChange?.(JSON.stringify(v))}
        />
      ) : (
        <div role="group" aria-labelledby={rest['aria-labelledby']} aria-describedby={rest['aria-describedby']}>
          <Checkbox.Group
            style={wrapped}
            disabled={rest.disabled}
            options={options}
            value={several(value)}
            onChange={(v) => onChange?.(JSON.stringify(inOrder(v as string[], options)))}
          />
        </div>
      )
    case 'date':
    case 'time':
      return (
        <Suspense fallback={<Input disabled value={value} style={{ maxWidth: 240 }} />}>
          <Moment {...all} />
        </Suspense>
      )
    case 'flag':
      return (
        <Suspense fallback={<Skeleton active title={false} />}>
          <FlagEditor {...all} />
        </Suspense>
      )
    case 'color':
      return <Color {...all} />
    case 'image':
      return <Image {...all} />
    case 'json':
      return <Json {...all} />
    case 'secret':
      return <Secret {...all} />
    default:
      return (
        <Input
          {...rest}
          {...length}
          placeholder={hint('placeholder')}
          suffix={<Unit text={hint('unit')} />}
          value={value}
          onChange={(e) => onChange?.(e.target.value)}
        />
      )
  }
}

// unitOf is the unit at the end of a number's key.
function unitOf(key: string): string | undefined {
  if (key.endsWith('_minutes')) return t('settings.unit.minutes')
  if (key.endsWith('_hours')) return t('settings.unit.hours')
  if (key.endsWith('_days')) return t('settings.unit.days')
  if (key.endsWith('_ms')) return t('settings.unit.ms')
  return key.endsWith('_megabytes') ? 'MiB' : undefined
}

// Unit shows the unit of a value.
function Unit({ text }: { text?: string }) {
  return (
    <bdi title={text} style={{ maxWidth: 120, overflow: 'hidden', textOverflow: 'ellipsis', whiteSpace: 'nowrap' }}>
      {text}
    </bdi>
  )
}

// several are the selected values of a multiple choice.
function several(text: string): string[] {
  try {
    const values: unknown = JSON.parse(text || '[]')
    return Array.isArray(values) ? values.map(String) : []
  } catch {
    return []
  }
}

// inOrder stores a choice in the order of its options, whatever the order of the clicks.
function inOrder(values: string[], options: { value: string }[]): string[] {
  const chosen = new Set(values)
  return options.map((o) => o.value).filter((v) => chosen.has(v))
}

// warning is a problem found while typing; the server validates everything.
export function warning(of: Pick<Setting, 'type' | 'props'>, value: string): string | undefined {
  if (value === '') return undefined
  const bound = (name: string) => of.props.find((p) => p.name === name)?.value
  const [min, max] = [bound('min'), bound('max')]
  if (of.type === 'number' && min !== undefined && Number(value) < Number(min)) return t('settings.least', { n: min })
  if (of.type === 'number' && max !== undefined && Number(value) > Number(max)) return t('settings.most', { n: max })
  if (of.type === 'color' && !/^#([0-9a-f]{3}|[0-9a-f]{6}|[0-9a-f]{8})$/i.test(value)) return t('settings.color.bad')
  if (of.type === 'json') {
    try {
      JSON.parse(value)
    } catch (cause) {
      return t('settings.json.bad', { cause: (cause as Error).message })
    }
  }
  return undefined
}
