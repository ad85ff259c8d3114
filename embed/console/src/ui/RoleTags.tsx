import { Tag } from 'antd'
import type { ReactNode } from 'react'
import { Link } from 'react-router'
import { useAccount } from '../app/account'

const whole = { margin: 0, maxWidth: '100%', whiteSpace: 'normal', overflowWrap: 'anywhere' } as const
const short = { margin: 0, maxWidth: 120, overflow: 'hidden', textOverflow: 'ellipsis' } as const

type Props = {
  ids: number[]
  names: string[]
  app?: boolean // roles of app users, which have no address of their own
  most?: number // how many are shown, each shortened; the others are counted
  children?: ReactNode // before the roles
}

// RoleTags are roles, linked to what they grant with permission to see roles.
export function RoleTags({ ids, names, app = false, most, children }: Props) {
  const links = useAccount().may(app ? 'user.role.query' : 'admin.role.query')
  const more = most ? names.slice(most) : []
  return (
    <span style={{ display: 'inline-flex', gap: 4, flexWrap: 'wrap', maxWidth: most ? 180 : '100%' }}>
      {children}
      {names.slice(0, most).map((name, i) => (
        <Tag key={ids[i]} title={name} style={most ? short : whole}>
          {links ? <Link to={app ? `/user/role?keywordSearch=${encodeURIComponent(name)}` : `/admin/role/${ids[i]}`}>{name}</Link> : name}
        </Tag>
      ))}
      {more.length > 0 && (
        <Tag style={{ margin: 0 }} title={more.join(', ')}>
          +{more.length}
        </Tag>
      )}
    </span>
  )
}
