import { Flex, Tag, Typography } from 'antd'
import type { ReactNode } from 'react'
import { t } from '../../i18n'

type Props = { role: { name: string; description: string; status: number }; children?: ReactNode }

// RoleName is the cell of a role in a list: its name with tags, and its description below.
export function RoleName({ role, children }: Props) {
  return (
    <Flex vertical style={{ width: 256, maxWidth: '100%' }}>
      <Flex gap={8} align="center">
        <Typography.Text ellipsis title={role.name}>
          <bdi>{role.name}</bdi>
        </Typography.Text>
        {role.status === 0 && <Tag variant="filled">{t('disabled')}</Tag>}
        {children}
      </Flex>
      {role.description && (
        <Typography.Text type="secondary" ellipsis style={{ fontSize: 12 }} title={role.description}>
          {role.description}
        </Typography.Text>
      )}
    </Flex>
  )
}
