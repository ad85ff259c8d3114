import type { IconComponentProps } from '@ant-design/icons/es/components/AntdIconLight'
import Drawn from '@ant-design/icons/es/components/AntdIconLight'

const silent = { role: undefined, 'aria-label': undefined, 'aria-hidden': true }

// Icon wraps every icon, including those of the component library; see vite.config.ts. By
// default an icon is announced by its file name, and a button would be called “delete
// Delete”. This one is silent unless it has a label or is interactive.
export default function Icon(props: IconComponentProps) {
  const speaks = props['aria-label'] || props.onClick || props.tabIndex !== undefined
  return <Drawn {...(speaks ? {} : silent)} {...props} />
}
