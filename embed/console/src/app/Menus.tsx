import { Menu, type MenuProps } from 'antd'
import { useMemo, useState } from 'react'
import { Link, useLocation, useNavigate } from 'react-router'
import type { PermissionNode } from '../api/types'
import { t } from '../i18n'
import { Icon } from '../ui/icons'
import { late } from './late'
import { follow, keyOf, title } from './menu'
import { PageLink, TabMark } from './PageLink'

const BackupMark = late(async () => (await import('./BackupMark')).BackupMark)

type Item = Required<MenuProps>['items'][number]

const groupKey = (node: PermissionNode) => node.path || node.key

// item is a page, or a group with the pages below it. A group that has a URL itself begins with it.
function item(node: PermissionNode): Item {
  const [icon, name] = [<Icon key="icon" name={node.icon} />, title(node)]
  // Links can be opened in a new window; keyboard navigation uses the menu itself.
  const own: Item = {
    key: keyOf(node),
    icon,
    title: name,
    label: (
      <PageLink node={node} tabIndex={-1}>
        {name}
        {node.open === 'tab' && <TabMark />}
        {node.path === '/system/backup' && <BackupMark onClose={() => {}} />}
      </PageLink>
    ),
  }
  if (!node.children?.length) return own
  const below = node.children.map(item)
  return { key: groupKey(node), icon, title: name, label: name, children: node.url ? [own, ...below] : below }
}

const opening = (nodes: PermissionNode[]): string[] => nodes.flatMap((node) => (node.children?.length ? [groupKey(node), ...opening(node.children)] : []))

const linked = (nodes: PermissionNode[]): PermissionNode[] => nodes.flatMap((node) => [...(node.url ? [node] : []), ...linked(node.children ?? [])])

type Props = { menus: PermissionNode[]; narrow?: boolean; onLeave?: () => void } // onLeave: a URL was opened

// Menus are the pages that the user has access to, in the order of the API.
export function Menus({ menus, narrow = false, onLeave }: Props) {
  const navigate = useNavigate()
  const [closed, setClosed] = useState<string[]>([]) // a group is open until it is closed, also one that appears later
  const groups = opening(menus)
  const here = useLocation().pathname.split('/', 3).join('/')
  const items = useMemo<Item[]>(
    () => [
      {
        key: '/',
        icon: <Icon name="HomeOutlined" />,
        title: t('home'),
        label: (
          <Link to="/" tabIndex={-1}>
            {t('home')}
          </Link>
        ),
      },
      ...menus.map(item),
    ],
    [menus],
  )
  return (
    <Menu
      key={narrow ? 'narrow' : 'wide'} // a menu that starts collapsed would not open its groups later
      mode="inline"
      inlineCollapsed={narrow}
      style={{ borderInlineEnd: 0 }}
      selectedKeys={[here]}
      {...(!narrow && {
        openKeys: groups.filter((key) => !closed.includes(key)),
        onOpenChange: (open: string[]) => setClosed(groups.filter((key) => !open.includes(key))),
      })}
      items={items}
      onClick={({ key, domEvent }) => {
        const link = linked(menus).find((node) => keyOf(node) === key)
        if (domEvent.type === 'keydown') void (link ? follow(link) : navigate(key))
        if (link) onLeave?.()
      }}
    />
  )
}
