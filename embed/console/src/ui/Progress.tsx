import { theme } from 'antd'

type Props = { percent: number; label: string; failed?: boolean; info?: boolean }

// Progress is a bar that shows a percentage, with the number beside it if info is true.
export function Progress({ percent, label, failed, info = true }: Props) {
  const { token } = theme.useToken()
  const whole = Math.floor(percent)
  return (
    <div style={{ display: 'flex', gap: 8, alignItems: 'center', flex: '1 1 auto' }}>
      <div
        role="progressbar"
        aria-label={label}
        aria-valuenow={whole}
        aria-valuemin={0}
        aria-valuemax={100}
        style={{ flex: 1, minWidth: 40, height: 6, borderRadius: 3, overflow: 'hidden', background: token.colorFillSecondary }}
      >
        <div style={{ width: `${whole}%`, height: '100%', background: failed ? token.colorError : token.colorPrimary }} />
      </div>
      {info && <span style={{ minWidth: '3em', textAlign: 'end', fontVariantNumeric: 'tabular-nums' }}>{whole}%</span>}
    </div>
  )
}
