import { theme } from 'antd'
import type { ReactNode } from 'react'

// Key renders a key of the keyboard.
export function Key({ children }: { children: ReactNode }) {
  const { token } = theme.useToken()
  return (
    <kbd className="key" style={{ color: token.colorTextSecondary, background: token.colorFillQuaternary, border: `1px solid ${token.colorBorderSecondary}` }}>
      {children}
    </kbd>
  )
}
