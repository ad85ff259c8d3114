import type { DescriptionsProps, TableProps } from 'antd'
import type { FieldForm } from '../../api/types'
import { Cell } from '../people/cells'
import { FieldValue } from './FieldValue'
import { nameOf, type Values } from './values'

// bounded wraps a text, and clips one that can't be wrapped.
const bounded = { minWidth: 0, overflowWrap: 'anywhere', overflow: 'clip', overflowClipMargin: 4 } as const

type Person = { fields: Values }

// fieldColumns are the columns of a list for the custom fields that have one.
export function fieldColumns<P extends Person>(fields: FieldForm[]): NonNullable<TableProps<P>['columns']> {
  return fields
    .filter((field) => field.listed)
    .map((field) => ({
      title: <Cell>{field.title}</Cell>,
      key: nameOf(field.key),
      render: (_, person) => <FieldValue short of={field} value={person.fields[field.key]} />,
    }))
}

// fieldItems are the custom fields in the description of a record.
export function fieldItems(fields: FieldForm[], values: Values): NonNullable<DescriptionsProps['items']> {
  return fields.map((field) => ({
    key: nameOf(field.key),
    label: <bdi>{field.title}</bdi>,
    styles: { label: { ...bounded, maxWidth: 160 } },
    // Its width must not depend on the value, which would widen the page.
    children: (
      <div style={{ ...bounded, flex: 1, contain: 'inline-size' }}>
        <FieldValue of={field} value={values[field.key]} />
      </div>
    ),
  }))
}
