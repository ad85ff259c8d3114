import { Tag } from 'antd'

const shown = 2

// Roles are the first roles of a user, and how many more there are.
export function Roles({ user }: { user: { role_ids: number[]; role_names: string[] } }) {
  const more = user.role_names.slice(shown)
  return (
    <span style={{ display: 'inline-flex', gap: 4, flexWrap: 'wrap', maxWidth: 180 }}>
      {user.role_names.slice(0, shown).map((name, i) => (
        <Tag key={user.role_ids[i]} title={name} style={{ margin: 0, maxWidth: 120, overflow: 'hidden', textOverflow: 'ellipsis' }}>
          {name}
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
