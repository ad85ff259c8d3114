import { Card, Flex, theme, Typography } from 'antd'
import type { ReactNode } from 'react'
import { Link } from 'react-router'

type Tile = { label: string; value: ReactNode; more?: ReactNode; to?: string; bad?: boolean }

// Tiles are the numbers that one looks for first.
export function Tiles({ tiles }: { tiles: Tile[] }) {
  return <Flex wrap gap={16}>{tiles.map((tile) => <One key={tile.label} {...tile} />)}</Flex>
}

function One({ label, value, more, to, bad }: Tile) {
  const { token } = theme.useToken()
  return (
    <Card size="small" style={{ flex: '1 1 160px', minWidth: 0 }} styles={{ body: { padding: '16px 20px' } }}>
      <Typography.Text type="secondary">{to ? <Link to={to}>{label}</Link> : label}</Typography.Text>
      <div style={{ fontSize: 24, lineHeight: '34px', minHeight: 34, fontVariantNumeric: 'tabular-nums', color: bad ? token.colorErrorText : undefined }}>{value}</div>
      <Typography.Text type="secondary" style={{ fontSize: 12, display: 'block', minHeight: 20, overflowWrap: 'anywhere' }}>{more}</Typography.Text>
    </Card>
  )
}
