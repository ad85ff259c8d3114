import type { PermissionNode } from '../api/types'
import { maybe, t } from '../i18n'
import { pages } from './pages'

export const title = (node: PermissionNode): string => maybe(node.local) ?? node.name

// shown are the menu entries that lead to a page of this console.
export function shown(menus: PermissionNode[]): PermissionNode[] {
  return menus.map((node) => ({ ...node, children: shown(node.children ?? []) })).filter((node) => node.children.length || node.path in pages)
}

export type Place = { path: string; title: string; icon: string; under: string }

// places are the pages that the user can open, in menu order.
export function places(menus: PermissionNode[], under = ''): Place[] {
  return menus.flatMap((node) => [
    ...(node.path in pages ? [{ path: node.path, title: title(node), icon: node.icon, under }] : []),
    ...places(node.children ?? [], title(node)),
  ])
}

// titleOf returns the window title of a path.
export function titleOf(path: string, all: Place[]): string {
  const here = path.split('/', 3).join('/')
  if (here === '/') return t('home')
  if (path.split('/')[1] === 'account') return t('account')
  if (path.split('/')[1] === 'help') return t('manual')
  return all.find((place) => place.path === here)?.title ?? ''
}
