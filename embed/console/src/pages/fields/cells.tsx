import { Button, Flex, Tag } from 'antd'
import { Link } from 'react-router'
import type { CustomField } from '../../api/types'
import { useAccount } from '../../app/account'
import { t } from '../../i18n'

export const flags = ['required', 'unique', 'searchable', 'filterable', 'listed'] as const
export const accesses = ['self_access', 'backend_access', 'program_access'] as const

// mostDuplicates is how many records with duplicate values the server names.
const mostDuplicates = 20

export function Accesses({ field }: { field: CustomField }) {
  return accesses.map((name) => (
    <div key={name} style={{ lineHeight: 1.5 }}>
      <span className="second">{t(`fields.${name}`)}</span> {t(`fields.access.${field[name]}`)}
    </div>
  ))
}

export function Flags({ field }: { field: CustomField }) {
  const on = flags.filter((name) => field[name])
  if (!on.length) return '—'
  return (
    <Flex gap={4} wrap style={{ maxWidth: 220 }}>
      {on.map((name) => (
        <Tag key={name} style={{ margin: 0 }}>
          {t(`fields.${name}`)}
        </Tag>
      ))}
    </Flex>
  )
}

// State shows if all records follow the declaration, and links those that have duplicate values.
export function State({ field, onApply }: { field: CustomField; onApply?: () => void }) {
  if (!field.applied) {
    return (
      <Tag color="processing" title={t('fields.state.applying.text')}>
        {t('fields.state.applying')}
      </Tag>
    )
  }
  const n = field.duplicates.length
  if (!n) return t('fields.state.ready')
  return (
    <Flex vertical gap={4} align="start" style={{ maxWidth: 220 }}>
      <Tag color="error" title={t('fields.state.duplicates.text')} style={{ margin: 0 }}>
        {t('fields.state.duplicates', { n: n < mostDuplicates ? n : `${n}+` })}
      </Tag>
      <Flex gap="0 8px" wrap>
        {field.duplicates.map((id) => (
          <Duplicate key={id} id={id} app={field.realm === 'app'} />
        ))}
      </Flex>
      {onApply && (
        <Button size="small" aria-label={t('fields.apply.of', { name: field.title })} onClick={onApply}>
          {t('fields.apply')}
        </Button>
      )}
    </Flex>
  )
}

function Duplicate({ id, app }: { id: number; app: boolean }) {
  const { may } = useAccount()
  if (!may(app ? 'user.list.query' : 'admin.list.query')) return <span>#{id}</span>
  return (
    <Link to={`/${app ? 'user' : 'admin'}/list/${id}`} state={{ from: '/system/field' }} aria-label={t('fields.state.record', { id })}>
      #{id}
    </Link>
  )
}
