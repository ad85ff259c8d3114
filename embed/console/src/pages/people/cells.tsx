import { Avatar, Flex, Tag, theme, Typography } from 'antd'
import { t } from '../../i18n'
import type { Person } from './person'

const oneLine = { overflow: 'hidden', textOverflow: 'ellipsis', whiteSpace: 'nowrap' } as const

// Cell is a text that may be long, on one line.
export function Cell({ children, width = 160 }: { children: string; width?: number }) {
  if (!children) return <>—</>
  return <div title={children} dir="auto" style={{ ...oneLine, maxWidth: width }}>{children}</div>
}

// Who is a person by face and names.
export function Who({ user, own = false }: { user: Person; own?: boolean }) {
  const { token } = theme.useToken()
  return (
    <Flex gap={12} align="center">
      <Avatar src={user.avatar_url || undefined} alt="" style={{ flex: 'none', background: token.colorFillSecondary, color: token.colorText }}>
        {Array.from(user.nickname || user.username)[0]?.toUpperCase()}
      </Avatar>
      <div style={{ maxWidth: 150, minWidth: 0, lineHeight: 1.4 }}>
        <Flex gap={6} align="center">
          <div dir="auto" title={user.nickname || user.username} style={oneLine}>{user.nickname || user.username}</div>
          {own && <Tag style={{ margin: 0 }}>{t('people.you')}</Tag>}
        </Flex>
        {user.nickname && <Typography.Text type="secondary" title={user.username} style={{ ...oneLine, display: 'block', fontSize: 12 }}>{user.username}</Typography.Text>}
      </div>
    </Flex>
  )
}

// Contact is how a person can be reached.
export function Contact({ user }: { user: Person }) {
  if (!user.email && !user.mobile) return <>—</>
  return (
    <div style={{ lineHeight: 1.4 }}>
      {user.email && <Cell width={140}>{user.email}</Cell>}
      {user.mobile && <Typography.Text type="secondary" style={{ fontSize: 12 }}><bdi>{user.mobile}</bdi></Typography.Text>}
    </div>
  )
}
