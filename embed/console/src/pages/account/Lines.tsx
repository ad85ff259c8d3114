import { theme } from 'antd'
import type { ReactNode } from 'react'

// Lines is a list without bullets.
export function Lines({ children }: { children: ReactNode }) {
  return <ul style={{ width: '100%', listStyle: 'none', padding: 0, margin: 0 }}>{children}</ul>
}

// Line is an entry of it.
export function Line({ children }: { children: ReactNode }) {
  const { token } = theme.useToken()
  return <li style={{ padding: '8px 0', borderBottom: `1px solid ${token.colorBorderSecondary}` }}>{children}</li>
}
