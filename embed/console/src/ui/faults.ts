import type { FormInstance } from 'antd'
import type { Failure } from '../api/request'
import { split } from './fault-places'
import { labelled, words } from './words'

// faults shows faults at their fields, scrolls to the first, and returns those to show
// above the form.
export function faults<V>(form: FormInstance<V>, cause: Failure): string {
  const fields = form.getFieldsValue(true) as Record<string, unknown>
  const { here, elsewhere } = split(cause.errors, (name) => Object.hasOwn(fields, name) || !!form.getFieldInstance(name as never))
  form.setFields(here.map(([name, fault]) => ({ name: name as never, errors: [fault] })))
  if (here[0]) form.scrollToField(here[0][0] as never, { focus: true })
  return here.length || elsewhere.length ? elsewhere.map(labelled).join('\n') : words(cause)
}
