import type { FormInstance } from 'antd'
import type { Failure } from '../api/request'
import { split } from './fault-places'
import { words } from './words'

// faults shows what is wrong with fields at the fields, leads to the first of them,
// and returns what is left to be said above all.
export function faults<V>(form: FormInstance<V>, cause: Failure): string {
  const fields = form.getFieldsValue(true) as Record<string, unknown>
  const { here, elsewhere } = split(cause.errors, (name) => Object.hasOwn(fields, name) || !!form.getFieldInstance(name as never))
  form.setFields(here.map(([name, fault]) => ({ name: name as never, errors: [fault] })))
  if (here[0]) form.scrollToField(here[0][0] as never, { focus: true })
  return here.length ? elsewhere.join('\n') : [words(cause), ...elsewhere].join('\n')
}
