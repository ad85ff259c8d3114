import { DeleteOutlined, PlusOutlined } from '@ant-design/icons'
import { Button, Flex, Input, Select, Switch, theme } from 'antd'
import { useRef, useState } from 'react'
import { t } from '../../i18n'
import type { ControlProps } from '../settings/control-props'
import { FlagPreview } from './FlagPreview'
import { FlagRule } from './FlagRule'
import { type Flag, type Kind, newRule, read, rename, retype, type Variant, write } from './flag'
import { Json } from '../settings/Json'
import { Line } from './Line'

const kinds: Kind[] = ['boolean', 'string', 'number', 'object']

// FlagEditor edits a feature flag: variants, rules and who gets what. A text that it does not
// understand is edited as JSON.
export function FlagEditor(props: ControlProps) {
  const { of, value = '', onChange, disabled, id } = props
  // Two variants can have the same name while one is typed, which the text cannot hold, so the
  // flag is kept until the text changes from outside.
  const [own, setOwn] = useState(() => ({ text: value, flag: read(value) }))
  const [raw, setRaw] = useState(false)
  const { token } = theme.useToken()
  const keys = useRef(0)
  const [ids, setIds] = useState<number[]>([])
  const flag = own.text === value ? own.flag : read(value)
  if (!flag || raw) {
    return (
      <Flex vertical gap={8} align="stretch">
        <Json {...props} />
        {flag && (
          <Button size="small" style={{ alignSelf: 'start' }} onClick={() => setRaw(false)}>
            {t('flags.form')}
          </Button>
        )}
      </Flex>
    )
  }
  const put = (next: Flag) => {
    const text = write(next)
    setOwn({ text, flag: next })
    onChange?.(text)
  }
  // A key for each rule, which moves with it.
  const keyed = flag.rules.map((_, i) => ids[i] ?? -1 - i)
  const putRules = (rules: Flag['rules'], order: number[]) => {
    setIds(order)
    put({ ...flag, rules })
  }
  const names = flag.variants.map((v) => v.name)
  const options = names.map((name) => ({ value: name, label: name }))
  const swap = <T,>(list: T[], i: number, j: number) => list.map((one, at) => (at === i ? list[j]! : at === j ? list[i]! : one))
  return (
    <Flex vertical gap={12} role="group" aria-labelledby={props['aria-labelledby']} aria-describedby={props['aria-describedby']}>
      <Line label={t('flags.enabled')}>
        {(of) => (
          <Switch id={id ?? of} disabled={disabled} aria-label={t('flags.enabled')} checked={flag.enabled} onChange={(enabled) => put({ ...flag, enabled })} />
        )}
      </Line>
      <Line label={t('flags.kind')}>
        {(of) => (
          <Select<Kind>
            id={of}
            disabled={disabled}
            style={{ width: 160 }}
            value={flag.kind}
            options={kinds.map((kind) => ({ value: kind, label: t(`flags.kind.${kind}`) }))}
            onChange={(kind) => put(retype(flag, kind))}
          />
        )}
      </Line>
      <Variants flag={flag} disabled={disabled} put={put} />
      <Line label={t('flags.default')}>
        {(of) => (
          <Select
            id={of}
            disabled={disabled}
            style={{ width: 160 }}
            value={flag.standard}
            options={options}
            onChange={(standard) => put({ ...flag, standard })}
          />
        )}
      </Line>
      <Line label={t('flags.off')}>
        {(of) => (
          <Select
            id={of}
            disabled={disabled}
            style={{ width: 160 }}
            value={flag.off || flag.standard}
            options={options}
            onChange={(off) => put({ ...flag, off: off === flag.standard ? '' : off })}
          />
        )}
      </Line>
      <div role="group" aria-label={t('flags.rules')}>
        <div style={{ fontWeight: 600 }}>{t('flags.rules')}</div>
        <div style={{ color: token.colorTextSecondary, marginBottom: 8 }}>{t('flags.rules.text')}</div>
        {flag.rules.map((rule, i) => (
          <FlagRule
            key={keyed[i]}
            at={i}
            last={i === flag.rules.length - 1}
            rule={rule}
            flag={flag}
            disabled={disabled}
            onChange={(next) => put({ ...flag, rules: flag.rules.map((r, at) => (at === i ? next : r)) })}
            onMove={(by) => putRules(swap(flag.rules, i, i + by), swap(keyed, i, i + by))}
            onRemove={() =>
              putRules(
                flag.rules.filter((_, at) => at !== i),
                keyed.filter((_, at) => at !== i),
              )
            }
          />
        ))}
        {!disabled && flag.rules.length < 50 && (
          <Button
            block
            type="dashed"
            icon={<PlusOutlined />}
            onClick={() => putRules([...flag.rules, newRule(names.find((n) => n !== flag.standard) ?? names[0]!)], [...keyed, ++keys.current])}
          >
            {t('flags.rule.add')}
          </Button>
        )}
      </div>
      <Flex gap={8} wrap>
        {of.name && <FlagPreview name={of.name} value={value} />}
        {!disabled && <Button onClick={() => setRaw(true)}>{t('flags.json')}</Button>}
      </Flex>
    </Flex>
  )
}

type VariantsProps = { flag: Flag; disabled?: boolean; put: (flag: Flag) => void }

// Variants edits the values that the flag can have.
function Variants({ flag, disabled, put }: VariantsProps) {
  const edit = (i: number, text: string) => put({ ...flag, variants: flag.variants.map((v, at) => (at === i ? { ...v, text } : v)) })
  const fresh = () => {
    let n = flag.variants.length + 1
    while (flag.variants.some((v) => v.name === `variant${n}`)) n++
    const name = `variant${n}`
    put(retypeLast({ ...flag, variants: [...flag.variants, { name, text: '' }] }))
  }
  return (
    <div role="group" aria-label={t('flags.variants')}>
      <div style={{ fontWeight: 600, marginBottom: 4 }}>{t('flags.variants')}</div>
      {flag.variants.map((v, i) => (
        <Flex key={i} gap={4} style={{ marginBottom: 8 }} align="start">
          <Input
            aria-label={`${t('flags.variant')} ${i + 1}`}
            style={{ flex: '1 1 0', minWidth: 0 }}
            maxLength={64}
            disabled={disabled}
            value={v.name}
            onChange={(e) => {
              if (!flag.variants.some((other, at) => at !== i && other.name === e.target.value)) put(rename(flag, i, e.target.value))
            }}
          />
          <VariantValue kind={flag.kind} label={`${t('flags.value')} ${i + 1}`} variant={v} disabled={disabled} onChange={(text) => edit(i, text)} />
          {!disabled && (
            <Button
              type="text"
              icon={<DeleteOutlined />}
              disabled={flag.variants.length === 1}
              aria-label={t('flags.variant.remove', { name: v.name })}
              onClick={() => put({ ...flag, variants: flag.variants.filter((_, at) => at !== i) })}
            />
          )}
        </Flex>
      ))}
      {!disabled && flag.variants.length < 20 && (
        <Button block type="dashed" icon={<PlusOutlined />} onClick={fresh}>
          {t('flags.variant.add')}
        </Button>
      )}
    </div>
  )
}

// retypeLast gives the last variant a value of the type of the others.
function retypeLast(flag: Flag): Flag {
  const last = retype(flag, flag.kind).variants.at(-1)!
  return { ...flag, variants: [...flag.variants.slice(0, -1), last] }
}

type ValueProps = { kind: Kind; label: string; variant: Variant; disabled?: boolean; onChange: (text: string) => void }

function VariantValue({ kind, label, variant, disabled, onChange }: ValueProps) {
  const common = { 'aria-label': label, disabled, value: variant.text, style: { flex: '1 1 0', minWidth: 0 } }
  if (kind === 'boolean') return <Select {...common} options={['true', 'false'].map((value) => ({ value, label: value }))} onChange={onChange} />
  return <Input {...common} inputMode={kind === 'number' ? 'decimal' : undefined} spellCheck={kind === 'string'} onChange={(e) => onChange(e.target.value)} />
}
