import { Flex, Tag } from 'antd'
import type { ReactNode } from 'react'
import { Link, useLocation } from 'react-router'
import { t } from '../../i18n'
import { Face } from '../../ui/Face'
import type { Person } from './person'

const oneLine = { overflow: 'hidden', textOverflow: 'ellipsis', whiteSpace: 'nowrap' } as const

// Cell is a long text, truncated to one line.
export function Cell({ children, width = 160 }: { children: ReactNode; width?: number }) {
  if (!children) return <>—</>
  return (
    <div title={typeof children === 'string' ? children : undefined} dir="auto" style={{ ...oneLine, maxWidth: width }}>
      {children}
    </div>
  )
}

// Who is a person's photo and names, linked to their page if there is one.
export function Who({ user, own = false, to }: { user: Person; own?: boolean; to?: string }) {
  const { pathname, search } = useLocation()
  const name = user.nickname || user.username
  return (
    <Flex gap={12} align="center">
      <Face of={user} />
      <div style={{ maxWidth: 150, minWidth: 0, lineHeight: 1.4 }}>
        <Flex gap={6} align="center">
          <div dir="auto" title={name} style={oneLine}>
            {to ? (
              <Link to={to} state={{ from: pathname + search }}>
                {name}
              </Link>
            ) : (
              name
            )}
          </div>
          {own && <Tag style={{ margin: 0 }}>{t('people.you')}</Tag>}
        </Flex>
        {user.nickname && (
          <div className="second" title={user.username} style={oneLine}>
            {user.username}
          </div>
        )}
      </div>
    </Flex>
  )
}

// Contact is a person's email and phone.
export function Contact({ user }: { user: Person }) {
  if (!user.email && !user.mobile) return <>—</>
  return (
    <div style={{ lineHeight: 1.4 }}>
      {user.email && <Cell width={232}>{user.email}</Cell>}
      {user.mobile && <bdi className="second">{user.mobile}</bdi>}
    </div>
  )
}
