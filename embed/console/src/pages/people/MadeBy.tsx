import { Tag } from 'antd'
import { Link } from 'react-router'
import { t } from '../../i18n'
import { useKeyName } from '../../ui/useKeyName'
import type { Asked } from './asked'

// madeBy is the line of a profile for the API key that created the user, if one did.
export const madeBy = ({ created_by_key: key }: { created_by_key: number }) =>
  key ? [{ label: t('people.created_by'), children: <KeyLink id={String(key)} /> }] : []

// KeyLink names an API key, linked to the list for users who can see it. A deleted one has only its ID.
function KeyLink({ id }: { id: string }) {
  const name = useKeyName(id)
  const text = t('people.key', { name: name ?? id })
  return name ? <Link to={`/admin/key?keywordSearch=${encodeURIComponent(name)}`}>{text}</Link> : text
}

// MadeByFilter shows that a list has only the users whom an API key created, and removes that filter.
export function MadeByFilter({ list: { params, set } }: { list: Asked }) {
  const id = params.get('created_by_key') ?? undefined
  const name = useKeyName(id)
  if (!id) return null
  const text = t('people.filter.key', { name: name ?? id })
  return (
    <Tag
      closable={{ 'aria-label': t('people.filter.remove', { name: text }) }}
      style={{ margin: 0, alignSelf: 'center', maxWidth: '100%', whiteSpace: 'normal', overflowWrap: 'anywhere' }}
      onClose={() => set({ created_by_key: undefined })}
    >
      {text}
    </Tag>
  )
}
