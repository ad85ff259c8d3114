import { Badge, Tag } from 'antd'

export const states = ['default', 'success', 'processing', 'warning', 'error'] as const

export type State = (typeof states)[number]

// Shown previews an item by its dictionary's type and its color.
export function Shown({ type, status, label }: { type: string; status: string; label: string }) {
  const text = <bdi style={{ overflowWrap: 'anywhere', whiteSpace: 'normal' }}>{label}</bdi>
  if (type === 'badge') return <Badge status={status as State} text={text} />
  if (type === 'tag')
    return (
      <Tag color={status} variant="outlined" style={{ maxWidth: '100%', whiteSpace: 'normal' }}>
        {text}
      </Tag>
    )
  return text
}
