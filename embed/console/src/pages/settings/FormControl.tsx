import { Control } from './Control'
import type { ControlProps } from './control-props'

// FormControl connects a form, which passes an ID, with a control, which may be a group.
export function FormControl({ label, ...props }: ControlProps & { label: string }) {
  const group = ['radio', 'checkbox', 'flag'].includes(props.of.type)
  return group ? (
    <div role="group" aria-label={label}>
      <Control {...props} />
    </div>
  ) : (
    <Control {...props} />
  )
}
