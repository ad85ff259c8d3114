import type { PermissionNode } from '../api/types'
import { maybe, t } from '../i18n'
import { pages } from './pages'

export const title = (node: PermissionNode): string => maybe(node.local) ?? node.name

// shown are the menus that lead to a page of this console.
export function shown(menus: PermissionNode[]): PermissionNode[] {
  return menus.map((node) => ({ ...node, children: shown(node.children ?? []) })).filter((node) => node.children.length || node.path in pages)
}

export type Place = { path: string; title: string; icon: string; under: string }

// places are the pages that somebody can go to, in the order of the menus.
export function places(menus: PermissionNode[], under = ''): Place[] {
  return menus.flatMap((node) => [
    ...(node.path in pages ? [{ path: node.path, title: title(node), icon: node.icon, under }] : []),
    ...places(node.children ?? [], title(node)),
  ])
}

// titleOf is what the page at an address is called, for the title of the window.
export function titleOf(path: string, all: Place[]): string {
  const here = path.split('/', 3).join('/')
  if (here === '/') return t('home')
  if (path.split('/')[1] === 'account') return t('account')
  return all.find((place) => place.path === here)?.title ?? ''
}
