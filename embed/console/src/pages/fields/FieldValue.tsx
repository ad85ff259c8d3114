import { base } from '../../api/base'
import { Flex, theme } from 'antd'
import type { FieldForm } from '../../api/types'
import type { ReactNode } from 'react'
import { joined, t } from '../../i18n'
import { Cell } from '../people/cells'
import { textOf } from './values'

type Props = {
  of: FieldForm
  value: unknown
  short?: boolean // truncated to one line
}

// FieldValue shows the value of a custom field.
export function FieldValue({ of, value, short = false }: Props) {
  const text = shown(of, value)
  if (!text) return <>—</>
  const words = short ? <Cell>{text}</Cell> : <bdi style={{ whiteSpace: 'pre-wrap' }}>{text}</bdi>
  if (of.type === 'color') return <Swatch color={text}>{words}</Swatch>
  if (of.type === 'image' && text.startsWith('/media/'))
    return <img src={base + text} alt={of.title} style={{ maxWidth: '100%', maxHeight: short ? 32 : 96 }} />
  return words
}

// shown is a value in words; '' for none.
function shown({ type, options }: FieldForm, value: unknown): string {
  if (value === undefined || value === null) return ''
  const label = (one: unknown) => options.find((o) => o.value === one)?.label ?? String(one)
  if (type === 'switch') return t(value ? 'yes' : 'no')
  if (type === 'checkbox') return joined((value as unknown[]).map(label))
  return type === 'radio' || type === 'select' ? label(value) : textOf(type, value)
}

function Swatch({ color, children }: { color: string; children: ReactNode }) {
  const { token } = theme.useToken()
  return (
    <Flex gap={8} align="center">
      <span style={{ width: 16, height: 16, flex: 'none', borderRadius: 4, border: `1px solid ${token.colorBorder}`, background: color }} />
      {children}
    </Flex>
  )
}
