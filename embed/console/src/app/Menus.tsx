import { Menu, type MenuProps } from 'antd'
import { useMemo } from 'react'
import { Link, useLocation, useNavigate } from 'react-router'
import type { PermissionNode } from '../api/types'
import { t } from '../i18n'
import { Icon } from '../ui/icons'
import { title } from './menu'

type Item = Required<MenuProps>['items'][number]

const keyOf = (node: PermissionNode) => node.path || node.key

function item(node: PermissionNode): Item {
  const inner = node.children?.length ? node.children.map(item) : undefined
  const name = title(node)
  // Links can be opened in a new window; keyboard navigation uses the menu itself.
  return {
    key: keyOf(node),
    icon: <Icon name={node.icon} />,
    title: name,
    label: inner ? (
      name
    ) : (
      <Link to={node.path} tabIndex={-1}>
        {name}
      </Link>
    ),
    children: inner,
  }
}

const opening = (nodes: PermissionNode[]): string[] => nodes.flatMap((node) => (node.children?.length ? [keyOf(node), ...opening(node.children)] : []))

// Menus are the pages that the user has access to, in the order of the API.
export function Menus({ menus, narrow = false }: { menus: PermissionNode[]; narrow?: boolean }) {
  const navigate = useNavigate()
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
      defaultOpenKeys={narrow ? [] : opening(menus)}
      items={items}
      onClick={({ key, domEvent }) => {
        if (domEvent.type === 'keydown') void navigate(key)
      }}
    />
  )
}
