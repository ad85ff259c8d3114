import { theme } from 'antd'
import { type ReactNode, useEffect, useRef } from 'react'
import { toMain } from './keys'

// Overlay is a native dialog: it traps the focus, restores it unless another page opens, and closes on Escape or a
// click outside.
export function Overlay({ label, onClose, children }: { label: string; onClose: () => void; children: ReactNode }) {
  const dialog = useRef<HTMLDialogElement>(null)
  const { token } = theme.useToken()
  useEffect(() => {
    const shown = dialog.current
    const before = document.activeElement as HTMLElement | null
    const from = location.pathname
    shown?.showModal()
    return () => {
      shown?.close()
      if (location.pathname === from) before?.focus()
      else toMain()
    }
  }, [])
  return (
    <dialog
      ref={dialog}
      className="overlay"
      aria-label={label}
      onClose={onClose}
      onClick={(e) => {
        if (e.target === dialog.current) onClose()
      }}
      style={{
        background: token.colorBgElevated,
        color: token.colorText,
        fontFamily: token.fontFamily,
        fontSize: token.fontSize,
        lineHeight: token.lineHeight,
        border: `1px solid ${token.colorBorderSecondary}`,
        borderRadius: 12,
        boxShadow: token.boxShadow,
      }}
    >
      {children}
    </dialog>
  )
}
