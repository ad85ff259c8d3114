import { Flex, Tag, theme, Typography } from 'antd'
import type { Operation } from './openapi'

const colors: Record<string, string> = { GET: 'blue', POST: 'green', PUT: 'orange', DELETE: 'red' }

// Line is an operation in a list.
export function Line({ operation: o }: { operation: Operation }) {
  const { token } = theme.useToken()
  return (
    <Flex gap={8} wrap align="baseline">
      <Tag color={colors[o.method]} style={{ minWidth: 60, textAlign: 'center', margin: 0 }}>
        {o.method}
      </Tag>
      <Typography.Text code>{o.path}</Typography.Text>
      <span lang="en" style={{ color: token.colorTextSecondary }}>
        {o.title}
      </span>
    </Flex>
  )
}
