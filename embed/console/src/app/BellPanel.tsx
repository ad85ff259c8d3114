import { theme } from 'antd'
import { useEffect, useRef } from 'react'
import { t } from '../i18n'
import { NoticeLines } from '../pages/factor/NoticeLines'
import type { useNotices } from './notices'

// BellPanel is the list of all notices below the bell.
export function BellPanel({ lines, close, onClose }: ReturnType<typeof useNotices> & { onClose: () => void }) {
  const { token } = theme.useToken()
  const panel = useRef<HTMLElement>(null)
  useEffect(() => panel.current?.focus({ preventScroll: true }), [])
  return (
    <section
      ref={panel}
      tabIndex={-1}
      className="bell-panel"
      aria-label={t('notices')}
      style={{ background: token.colorBgElevated, color: token.colorText, boxShadow: token.boxShadowSecondary, borderRadius: token.borderRadiusLG }}
    >
      {lines.length ? <NoticeLines lines={lines} onClose={(line) => void close(line)} onLeave={onClose} /> : <p>{t('notices.none')}</p>}
    </section>
  )
}
