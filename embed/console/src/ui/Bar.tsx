import { ReloadOutlined, SearchOutlined, SettingOutlined } from '@ant-design/icons'
import { Button, Flex, Input, Typography } from 'antd'
import { type ReactNode, useState } from 'react'
import { useAccount } from '../app/account'
import { late } from '../app/late'
import { loadTexts, t } from '../i18n'
import { clear } from './clear'
import type { Props as MenuProps } from './ListMenu'
import { useDebounced } from './useDebounced'
import { useWider } from './useWider'

const ListMenu = late(async () => (await Promise.all([import('./ListMenu'), loadTexts('overlays')]))[0].ListMenu)

const Views = late(async () => (await Promise.all([import('./Views'), loadTexts('overlays')]))[0].Views)

type List = { params: URLSearchParams; set: (values: Record<string, string | undefined>) => void; reload: () => Promise<void>; damaged?: number[] }

type Props = { title?: string; list: List; search?: boolean; filters?: ReactNode; actions?: ReactNode; menu?: Omit<MenuProps, 'at' | 'onClose'> }

// Bar is the header of a list: title, unless shown above, actions, search and filters. The actions come
// first, so that a few Tabs reach them. A phone shows the rest below.
export function Bar({ title, list, search = true, filters, actions, menu }: Props) {
  const md = useWider('md')
  const room = <span style={{ flex: '1 1 auto' }} />
  const head =
    title === undefined ? (
      !md && room
    ) : (
      <Typography.Title level={1} style={{ fontSize: 20, margin: 0, flex: md ? undefined : '1 1 auto' }}>
        {title}
      </Typography.Title>
    )
  const end = (
    <>
      {menu && title !== undefined && <Saved list={menu.list} />}
      {menu && <Menu {...menu} />}
      <Button icon={<ReloadOutlined />} aria-label={t('reload')} title={t('reload')} onClick={() => void list.reload()} />
    </>
  )
  const damaged = list.damaged && list.damaged.length > 0 && (
    <Typography.Paragraph type="danger" role="alert">
      {t('list.damaged', { ids: list.damaged.join(', ') })}
    </Typography.Paragraph>
  )
  return md ? (
    <>
      <Flex wrap gap={8} align="center" justify="end" style={{ marginBottom: 16 }}>
        {head}
        {actions}
        {room}
        {search && <Search list={list} />}
        {filters}
        {end}
      </Flex>
      {damaged}
    </>
  ) : (
    <>
      <Flex wrap gap={8} align="center" justify="end" style={{ marginBottom: 12 }}>
        {head}
        {actions}
        {end}
      </Flex>
      {(search || filters) && (
        <div className="bar-filters">
          {search && <Search list={list} />}
          {filters}
        </div>
      )}
      {damaged}
    </>
  )
}

// Menu is loaded when it is first opened.
function Menu(props: Omit<MenuProps, 'at' | 'onClose'>) {
  const [at, setAt] = useState<HTMLElement>()
  return (
    <>
      <Button
        icon={<SettingOutlined />}
        aria-label={t('list.menu')}
        title={t('list.menu')}
        aria-expanded={Boolean(at)}
        onClick={(e) => setAt(at ? undefined : e.currentTarget)}
      />
      {at && <ListMenu {...props} at={at} onClose={() => setAt(undefined)} />}
    </>
  )
}

// Saved are the saved views of a list. They are loaded when they are first opened, or if one of them is used.
function Saved({ list }: { list: MenuProps['list'] }) {
  const { view_lists } = useAccount().info
  const [asked, setAsked] = useState(() => (view_lists.includes(list.path) || sessionStorage.getItem(`view ${list.path}`) ? 1 : 0))
  return asked ? <Views list={list} menu={asked > 1} onClose={() => setAsked(0)} /> : <Button onClick={() => setAsked(2)}>{t('list.views')}</Button>
}

function Search({ list }: { list: List }) {
  const [text, setText] = useDebounced(list.params.get('keywordSearch') ?? '', (keywordSearch) => list.set({ keywordSearch }))
  return (
    <Input
      data-search
      allowClear={clear()}
      prefix={<SearchOutlined />}
      className="bar-search"
      aria-label={t('search')}
      placeholder={t('search')}
      value={text}
      onChange={(e) => setText(e.target.value)}
    />
  )
}
