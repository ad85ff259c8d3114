import { Card, theme, Typography } from 'antd'
import type { ReactNode } from 'react'
import { Link } from 'react-router'

export type Tile = { label: string; value: ReactNode; more?: ReactNode; to?: string; bad?: boolean }

// Tiles are the key figures.
export function Tiles({ tiles }: { tiles: Tile[] }) {
  return (
    <div style={{ display: 'grid', gap: 12, gridTemplateColumns: 'repeat(auto-fit, minmax(132px, 1fr))' }}>
      {tiles.map((tile) => (
        <One key={tile.label} {...tile} />
      ))}
    </div>
  )
}

function One({ label, value, more, to, bad }: Tile) {
  const { token } = theme.useToken()
  return (
    <Card size="small" style={{ minWidth: 0 }} styles={{ body: { padding: '16px 20px' } }}>
      <Typography.Text type="secondary">{to ? <Link to={to}>{label}</Link> : label}</Typography.Text>
      <div style={{ fontSize: 24, lineHeight: '34px', minHeight: 34, fontVariantNumeric: 'tabular-nums', color: bad ? token.colorErrorText : undefined }}>
        {value}
      </div>
      <Typography.Text type="secondary" style={{ fontSize: 12, display: 'block', minHeight: 20, overflowWrap: 'anywhere' }}>
        {more}
      </Typography.Text>
    </Card>
  )
}
