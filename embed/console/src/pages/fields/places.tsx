import type { DescriptionsProps, TableProps } from 'antd'
import type { FieldForm } from '../../api/types'
import { Cell } from '../people/cells'
import { FieldValue } from './FieldValue'
import { nameOf, type Values } from './values'

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
    label: <bdi style={{ overflowWrap: 'anywhere' }}>{field.title}</bdi>,
    children: <FieldValue of={field} value={values[field.key]} />,
  }))
}
