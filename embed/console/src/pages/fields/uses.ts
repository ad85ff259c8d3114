import type { CustomField } from '../../api/types'

export type Type = CustomField['type']
type Use = 'searchable' | 'filterable' | 'unique'

// Ways in which the values of a type can be found, as the server has them.
const uses: Record<Type, Use[]> = {
  input: ['searchable', 'filterable', 'unique'],
  textarea: ['searchable'],
  number: ['searchable', 'filterable', 'unique'],
  switch: ['filterable'],
  select: ['filterable'],
  radio: ['filterable'],
  checkbox: ['filterable'],
  date: ['filterable'],
  time: ['filterable'],
  color: ['filterable'],
  image: [],
  json: [],
}

export const types = Object.keys(uses) as Type[]

type Declared = Pick<CustomField, 'type' | 'backend_access' | 'program_access'>

// isPossible reports whether a field can be used in a way. A search would reveal values to those
// who can't read them, so everybody who searches must be able to.
export function isPossible(use: Use, { type, backend_access, program_access }: Declared): boolean {
  return uses[type].includes(use) && (use !== 'searchable' || (backend_access !== 'none' && program_access !== 'none'))
}
