import type { IconComponentProps } from '@ant-design/icons/es/components/AntdIconLight'
import Drawn from '@ant-design/icons/es/components/AntdIconLight'

const silent = { role: undefined, 'aria-label': undefined, 'aria-hidden': true }

// Icon is every icon, also those within the component library: see vite.config.ts.
// Of itself one tells the name of its file, and a button would be called “delete
// Delete”. Here it says nothing, unless it is given words or does something itself.
export default function Icon(props: IconComponentProps) {
  const speaks = props['aria-label'] || props.onClick || props.tabIndex !== undefined
  return <Drawn {...(speaks ? {} : silent)} {...props} />
}
