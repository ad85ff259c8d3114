import { theme } from 'antd'
import type { ReactNode } from 'react'

// Lines is a list without bullets.
export function Lines({ children }: { children: ReactNode }) {
  return <ul style={{ width: '100%', listStyle: 'none', padding: 0, margin: 0, overflowWrap: 'anywhere' }}>{children}</ul>
}

// Line is an entry of it. Scripts can give it the focus.
export function Line({ children }: { children: ReactNode }) {
  const { token } = theme.useToken()
  return (
    <li tabIndex={-1} style={{ outline: 0, padding: '8px 0', borderBottom: `1px solid ${token.colorBorderSecondary}` }}>
      {children}
    </li>
  )
}
