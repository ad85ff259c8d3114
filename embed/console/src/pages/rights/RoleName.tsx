import { Flex, Tag, Typography } from 'antd'
import type { ReactNode } from 'react'
import { Link } from 'react-router'
import { given, t } from '../../i18n'

type Props = {
  role: { name: string; description: string; status: number; password_off: number }
  to?: string // address that opens the role
  onOpen?: () => void // what opens a role without an address
  children?: ReactNode
}

// RoleName is the cell of a role in a list: its name with tags, and its description below.
export function RoleName({ role, to, onOpen, children }: Props) {
  return (
    <Flex vertical style={{ width: 256, maxWidth: '100%' }}>
      <Flex gap={8} align="center">
        <Typography.Text ellipsis title={role.name}>
          {to ? (
            <Link to={to}>
              <bdi>{role.name}</bdi>
            </Link>
          ) : onOpen ? (
            <button type="button" className="link" onClick={onOpen}>
              <bdi>{role.name}</bdi>
            </button>
          ) : (
            <bdi>{role.name}</bdi>
          )}
        </Typography.Text>
        {role.status === 0 && <Tag variant="filled">{t('disabled')}</Tag>}
        {role.password_off === 1 && <Tag variant="filled">{t('role.password_off')}</Tag>}
        {children}
      </Flex>
      {role.description && (
        <Typography.Text type="secondary" ellipsis style={{ fontSize: 12 }} title={given(role.description)}>
          {given(role.description)}
        </Typography.Text>
      )}
    </Flex>
  )
}
