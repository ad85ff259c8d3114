import {
  DesktopOutlined,
  LogoutOutlined,
  MenuFoldOutlined,
  MenuOutlined,
  MenuUnfoldOutlined,
  MoonOutlined,
  QuestionCircleOutlined,
  SearchOutlined,
  SunOutlined,
  TranslationOutlined,
  UserOutlined,
} from '@ant-design/icons'
import { Button, Dropdown, type MenuProps } from 'antd'
import { useState } from 'react'
import { useNavigate } from 'react-router'
import { signOut } from '../api/sign-out'
import { language, setLanguage, t } from '../i18n'
import { languages } from '../i18n/languages'
import { mode, type Mode, setMode } from '../ui/dark'
import { Face } from '../ui/Face'
import { Icon } from '../ui/icons'
import { Key } from '../ui/Key'
import { useWider } from '../ui/useWider'
import { useAccount } from './account'
import { Bell } from './Bell'

type Props = { narrow: boolean; onFold: () => void; onSearch: () => void; onHelp: () => void; onRequests: () => void }

// Head is the header of every page.
export function Head({ narrow, onFold, onSearch, onHelp, onRequests }: Props) {
  const md = useWider('md')
  const fold = !md ? t('menu') : t(narrow ? 'menu.unfold' : 'menu.fold')
  return (
    <>
      <Button
        type="text"
        icon={!md ? <MenuOutlined /> : narrow ? <MenuUnfoldOutlined /> : <MenuFoldOutlined />}
        aria-label={fold}
        title={fold}
        onClick={onFold}
      />
      <span style={{ flex: 1 }} />
      {md ? (
        <Button className="frame-search" icon={<SearchOutlined />} onClick={onSearch} aria-keyshortcuts="Control+K Meta+K">
          {t('palette.open')}
          <Key>{command('K')}</Key>
        </Button>
      ) : (
        <Button type="text" icon={<SearchOutlined />} aria-label={t('search')} onClick={onSearch} />
      )}
      <Appearance />
      <Tongue />
      {md && <Button type="text" icon={<QuestionCircleOutlined />} aria-label={t('help')} title={t('help')} onClick={onHelp} />}
      <Bell />
      <Own onRequests={onRequests} />
    </>
  )
}

// command is the name of the command key on this machine.
export function command(key: string): string {
  return /Mac|iPhone|iPad/.test(navigator.platform) ? `⌘ ${key}` : `Ctrl ${key}`
}

const modeIcons: Record<Mode, typeof SunOutlined> = { system: DesktopOutlined, light: SunOutlined, dark: MoonOutlined }

function Appearance() {
  const [chosen, setChosen] = useState(mode)
  const Shown = modeIcons[chosen]
  const choose = (to: Mode) => {
    setMode(to)
    setChosen(to)
  }
  const items: MenuProps['items'] = (Object.keys(modeIcons) as Mode[]).map((m) => {
    const ModeIcon = modeIcons[m]
    return { key: m, icon: <ModeIcon />, label: t(`mode.${m}`), onClick: () => choose(m) }
  })
  return (
    <Dropdown
      menu={{ items, selectable: true, selectedKeys: [chosen] }}
      trigger={['click']}
      onOpenChange={(open) => {
        if (open) setChosen(mode())
      }}
    >
      <Button type="text" icon={<Shown />} aria-label={t('mode')} title={t('mode')} />
    </Dropdown>
  )
}

function Tongue() {
  const items: MenuProps['items'] = Object.entries(languages).map(([code, { name }]) => ({
    key: code,
    label: <span lang={code}>{name}</span>,
    onClick: () => setLanguage(code),
  }))
  return (
    <Dropdown menu={{ items, selectable: true, selectedKeys: [language] }} trigger={['click']}>
      <Button type="text" icon={<TranslationOutlined />} aria-label={t('language')} title={t('language')} />
    </Dropdown>
  )
}

function Own({ onRequests }: { onRequests: () => void }) {
  const { info: user, acting } = useAccount().info
  const md = useWider('md')
  const navigate = useNavigate()
  const name = user.nickname || user.username
  const items: MenuProps['items'] = [
    ...(acting ? [] : [{ key: 'account', icon: <UserOutlined />, label: t('account'), onClick: () => void navigate('/account') }]),
    { key: 'help', icon: <QuestionCircleOutlined />, label: t('manual'), onClick: () => void navigate('/help') },
    { key: 'requests', icon: <Icon name="ApiOutlined" />, label: t('requests'), onClick: onRequests },
    { type: 'divider' },
    { key: 'out', icon: <LogoutOutlined />, label: t('sign_out'), onClick: () => void signOut() },
  ]
  return (
    <Dropdown menu={{ items }} trigger={['click']} placement="bottomRight">
      <Button type="text" className="frame-own" title={t('account.of', { name })}>
        <Face of={user} size={24} />
        <span className={md ? undefined : 'visually-hidden'}>
          <bdi>{name}</bdi>
        </span>
      </Button>
    </Dropdown>
  )
}
