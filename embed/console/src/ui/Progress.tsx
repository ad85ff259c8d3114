import { Flex, theme } from 'antd'

type Props = { percent: number; label: string; failed?: boolean; info?: boolean }

// Progress is a bar that shows a percentage, with the number beside it if info is true.
export function Progress({ percent, label, failed, info = true }: Props) {
  const { token } = theme.useToken()
  const whole = Math.floor(percent)
  return (
    <Flex gap={8} align="center" flex="1 1 auto">
      <div
        role="progressbar"
        aria-label={label}
        aria-valuenow={whole}
        aria-valuemin={0}
        aria-valuemax={100}
        style={{ flex: 1, minWidth: 40, height: 6, borderRadius: 3, overflow: 'hidden', background: token.colorFillSecondary }}
      >
        <div
          style={{
            width: `${percent}%`,
            height: '100%',
            borderRadius: 3,
            background: failed ? token.colorError : token.colorPrimary,
            transition: 'width 0.3s',
          }}
        />
      </div>
      {info && <span style={{ minWidth: '3em', textAlign: 'end', fontVariantNumeric: 'tabular-nums' }}>{whole}%</span>}
    </Flex>
  )
}
