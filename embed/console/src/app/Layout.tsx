import { MenuOutlined } from '@ant-design/icons'
import { Avatar, Button, Drawer, Dropdown, Grid, Layout as AntLayout, Menu, type MenuProps, Spin, theme } from 'antd'
import { type ReactNode, useCallback, useEffect, useMemo, useState } from 'react'
import { useLocation, useNavigate } from 'react-router'
import { get, post } from '../api/request'
import { end } from '../api/session'
import type { Info, PermissionNode } from '../api/types'
import { language, maybe, setLanguage, t } from '../i18n'
import { mode, type Mode, setMode } from '../ui/dark'
import { Icon } from '../ui/icons'
import { type Account, AccountContext } from './account'
import { pages } from './pages'

const { Header, Sider, Content } = AntLayout

// Layout is the frame of every page: menus from the interface, and one's own account.
export function Layout({ children }: { children: ReactNode }) {
  const [info, setInfo] = useState<Info>()
  const [open, setOpen] = useState(false)
  const { md } = Grid.useBreakpoint()
  const { token } = theme.useToken()
  const path = useLocation().pathname

  const reload = useCallback(async () => setInfo(await get<Info>('/admin/info')), [])
  useEffect(() => {
    reload().catch(() => {}) // it is shown, and the page stays empty
  }, [reload])
  useEffect(() => setOpen(false), [path])

  const account = useMemo<Account | undefined>(() => {
    if (!info) return undefined
    const held = new Set<string>(info.access)
    return { info, may: (key) => held.has(key), reload }
  }, [info, reload])

  if (!account) return <Spin fullscreen />
  const menu = <Menus menus={account.info.menus} />
  return (
    <AccountContext.Provider value={account}>
      <AntLayout style={{ minHeight: '100vh' }}>
        {md ? (
          <Sider width={232} theme="light" style={{ borderInlineEnd: `1px solid ${token.colorBorderSecondary}`, position: 'sticky', top: 0, height: '100vh', overflow: 'auto' }}>
            {menu}
          </Sider>
        ) : (
          <Drawer placement="left" open={open} onClose={() => setOpen(false)} size={264} styles={{ body: { padding: 0 } }} title={t('menu')}>
            {menu}
          </Drawer>
        )}
        <AntLayout>
          <Header style={{ display: 'flex', gap: 8, alignItems: 'center', padding: '0 16px', background: token.colorBgContainer, borderBottom: `1px solid ${token.colorBorderSecondary}` }}>
            {!md && <Button type="text" icon={<MenuOutlined />} aria-label={t('menu')} onClick={() => setOpen(true)} />}
            <span style={{ flex: 1 }} />
            <Own account={account} />
          </Header>
          <Content style={{ padding: md ? 24 : 12, minWidth: 0 }}>
            {children}
          </Content>
        </AntLayout>
      </AntLayout>
    </AccountContext.Provider>
  )
}

function Menus({ menus }: { menus: PermissionNode[] }) {
  const navigate = useNavigate()
  const path = useLocation().pathname
  const here = path.split('/', 3).join('/')
  type Item = Required<MenuProps>['items'][number]
  const item = (node: PermissionNode): Item => ({
    key: node.path || node.key,
    icon: <Icon name={node.icon} />,
    label: maybe(node.local) ?? node.name,
    children: node.children?.length ? node.children.map(item) : undefined,
  })
  const shown = menus.map((top) => ({ ...top, children: top.children?.filter((page) => page.path in pages) })).filter((top) => top.children?.length || top.path in pages)
  const opened = shown.filter((top) => top.children?.some((page) => page.path === here)).map((top) => top.path || top.key)
  return (
    <nav aria-label={t('menu')}>
      <Menu
        mode="inline" style={{ borderInlineEnd: 0 }} selectedKeys={[here]} defaultOpenKeys={opened.length ? opened : shown.map((top) => top.path || top.key)}
        items={[{ key: '/', icon: <Icon name="HomeOutlined" />, label: t('home') }, ...shown.map(item)]}
        onClick={({ key }) => void navigate(key)}
      />
    </nav>
  )
}

function Own({ account }: { account: Account }) {
  const user = account.info.info
  const modes: Mode[] = ['system', 'light', 'dark']
  const items: MenuProps['items'] = [
    { key: 'mode', label: t('mode'), children: modes.map((m) => ({ key: m, label: t(`mode.${m}`), disabled: m === mode(), onClick: () => setMode(m) })) },
    { key: 'language', label: language === 'en' ? '中文' : 'English', onClick: () => setLanguage(language === 'en' ? 'zh' : 'en') },
    { type: 'divider' },
    { key: 'out', label: t('sign_out'), onClick: () => void post('/admin/logout').finally(() => end(false)) },
  ]
  return (
    <Dropdown menu={{ items }} trigger={['click']}>
      <Button type="text">
        <Avatar size="small" src={user.avatar_url || undefined} alt="">{(user.nickname || user.username).slice(0, 1)}</Avatar>
        {user.nickname || user.username}
      </Button>
    </Dropdown>
  )
}
