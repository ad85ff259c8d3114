import type { PermissionNode } from '../api/types'
import { maybe, t } from '../i18n'

export const title = (node: PermissionNode): string => maybe(node.local) ?? node.name

// keyOf identifies a menu entry that leads to a page: its path in the console, or a key for a URL.
export const keyOf = (node: PermissionNode): string => (node.url ? `url-${node.id}` : node.path)

// leads reports whether an entry of the shown menus leads to a page.
export const leads = (node: PermissionNode): boolean => node.url !== '' || node.path !== ''

// shown are the menu entries that lead to a page of this console, or to a URL. Paths of other apps are removed.
export function shown(menus: PermissionNode[], isPage: (path: string) => boolean): PermissionNode[] {
  return menus
    .map((node) => ({ ...node, path: isPage(node.path) ? node.path : '', children: shown(node.children ?? [], isPage) }))
    .filter((node) => node.children.length || leads(node))
}

// Place is a page that the user can open. It is in the console and has a path, or it has the node of
// a URL.
export type Place = { key: string; path?: string; link?: PermissionNode; title: string; icon: string; under: string }

// places are the pages that the user can open, in menu order.
export function places(menus: PermissionNode[], under = ''): Place[] {
  return menus.flatMap((node) => [
    ...(leads(node) ? [{ key: keyOf(node), ...(node.url ? { link: node } : { path: node.path }), title: title(node), icon: node.icon, under }] : []),
    ...places(node.children ?? [], title(node)),
  ])
}

// follow opens the URL of a menu entry, like a click on its link.
export function follow({ url, open }: PermissionNode): void {
  if (open === 'tab') window.open(url, '_blank', 'noopener,noreferrer')
  else location.assign(url)
}

// titleOf returns the window title of a path.
export function titleOf(path: string, all: Place[]): string {
  const here = path.split('/', 3).join('/')
  if (here === '/') return t('home')
  if (path.split('/')[1] === 'account') return t('account')
  if (path.split('/')[1] === 'help') return t('manual')
  return all.find((place) => place.path === here)?.title ?? ''
}
