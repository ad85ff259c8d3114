import { Flex } from 'antd'
import { type ReactNode, useId } from 'react'

// Line is a control with its label.
export function Line({ label, children }: { label: string; children: (id: string) => ReactNode }) {
  const id = useId()
  return (
    <Flex gap="4px 12px" wrap align="center">
      <label htmlFor={id} style={{ flex: '0 0 140px' }}>
        {label}
      </label>
      <div style={{ flex: '1 1 160px', minWidth: 0 }}>{children(id)}</div>
    </Flex>
  )
}
