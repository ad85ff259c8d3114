import type { ChoiceNode } from '../api/types'
import { type Option, marked } from './offered'
import { useGet } from './useGet'

// personName names a user among the choices, with the username where the name is another one.
export const personName = (person: ChoiceNode): string =>
  marked({ ...person, name: person.name === person.key ? person.name : `${person.name} (${person.key})` })

// useFound returns the users whose names contain a text, and the one that is chosen, of whom the URL
// has only the ID. No request is made while the text is undefined, or nothing is chosen.
export function useFound(of: 'user' | 'app_user', text: string | undefined, id?: number): { found: Option[]; loading: boolean } {
  const { data, loading } = useGet(text === undefined ? '' : '/admin/choice', { of, keywordSearch: text })
  const listed = data?.data ?? []
  const known = listed.some((one) => one.id === id)
  const chosen = useGet(id && !known && !loading ? '/admin/choice' : '', { of, record: id }).data?.data ?? []
  return { found: [...(known ? [] : chosen), ...listed].map((one) => ({ value: one.id, label: personName(one) })), loading }
}
