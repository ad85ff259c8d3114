import type { ComponentType } from 'react'
import * as set from './icon-set'

export const icons: Record<string, ComponentType> = set

export function Icon({ name }: { name: string }) {
  const Known = Object.hasOwn(icons, name) ? icons[name]! : set.AppstoreOutlined
  return <Known />
}
