import { Spin, theme } from 'antd'
import { type ReactNode, useCallback, useEffect, useMemo, useState } from 'react'
import { Link, useLocation, useNavigate } from 'react-router'
import { early } from '../api/early'
import { get } from '../api/request'
import type { Home, Info } from '../api/types'
import { loadTexts, t } from '../i18n'
import { useDocked } from '../ui/dock'
import { keepFor } from '../ui/kept'
import { Mark, setIcon } from '../ui/Mark'
import { useReconnect } from '../ui/useReconnect'
import { useChanges } from '../ui/useChanges'
import { useWider } from '../ui/useWider'
import { follow } from './accent'
import { type Account, AccountContext } from './account'
import { ActingBar } from './ActingBar'
import { Confirmation } from './Confirmation'
import './frame.css'
import { Head } from './Head'
import { toMain, useKeys } from './keys'
import { late } from './late'
import { listen } from './live'
import { places, shown, titleOf } from './menu'
import { Menus } from './Menus'
import { pages } from './pages'
import { SignInAgain } from './SignInAgain'

const Palette = late(async () => (await Promise.all([import('./Palette'), loadTexts('builtins', 'overlays')]))[0].Palette)
const Requests = late(async () => (await Promise.all([import('./Requests'), loadTexts('requests')]))[0].Requests)
const PhoneMenu = late(async () => (await import('./PhoneMenu')).PhoneMenu)
const Help = late(async () => (await Promise.all([import('./Help'), loadTexts('overlays')]))[0].Help)

const FactorDue = late(async () => (await Promise.all([import('../pages/factor/FactorDue'), loadTexts('factor')]))[0].FactorDue)
const AccountNotices = late(async () => (await Promise.all([import('../pages/factor/AccountNotices'), loadTexts('factor')]))[0].AccountNotices)
const MustAdd = late(async () => (await Promise.all([import('../pages/factor/FactorDue'), loadTexts('factor')]))[0].MustAdd)

// overdue reports whether the user must set up a second factor first. An administrator who acts as
// the user can't do that.
const overdue = ({ acting, factor_due: due }: Info) => !acting && due !== null && Date.parse(due) <= Date.now()

// unacted are the permissions that can't be used as another user.
const unacted = /^admin\.(key\.|list\.act_as)/

const isPage = (path: string) => path in pages

const folded = 'reeve.folded'

// Layout is the frame of every page: menus and header. It loads the account and the site's
// name.
export function Layout({ children }: { children: ReactNode }) {
  const [info, setInfo] = useState<Info>()
  const [home, setHome] = useState<Home>()
  const load = useCallback(async () => {
    const info = (await early()?.catch(() => undefined)) ?? (await get('/admin/info'))
    keepFor(info.info.id)
    setInfo(info)
    return !overdue(info)
  }, [])
  const reload = useCallback(async () => void (await load()), [load])
  const begin = useCallback(() => {
    // biome-ignore lint/nursery/useReactCompiler: the state is set once the server has answered
    load().then(
      (free) => free && listen(),
      () => {},
    ) // already shown; the page stays empty
    get('/api/home', {}, { quiet: true }).then(setHome, () => {}) // a missing site name is not worth an error
  }, [load])
  useEffect(begin, [begin])
  useReconnect(begin)

  // Failures are not shown: the user has not requested this.
  useChanges(['access.changed'], () => get('/admin/info', {}, { quiet: true }).then(setInfo, () => {}))
  useChanges(['setting'], () => get('/api/home', {}, { quiet: true }).then(setHome, () => {}))

  const account = useMemo<Account | undefined>(() => {
    if (!info) return undefined
    const held = new Set<string>(info.acting ? info.access.filter((key) => !unacted.test(key)) : info.access)
    const menus = shown(info.menus, (path) => isPage(path) && !(info.acting && path === '/admin/key'))
    return { info: { ...info, menus }, may: (key) => held.has(key), isPage, reload }
  }, [info, reload])

  if (!account) return <Spin fullscreen />
  if (overdue(account.info))
    return (
      <AccountContext.Provider value={account}>
        <MustAdd
          onDone={async () => {
            const free = await load()
            if (free) begin()
            return free
          }}
          onClose={() => {}}
        />
        <Confirmation />
      </AccountContext.Provider>
    )
  return (
    <AccountContext.Provider value={account}>
      <Frame account={account} home={home}>
        {children}
      </Frame>
    </AccountContext.Provider>
  )
}

function Frame({ account, home, children }: { account: Account; home?: Home; children: ReactNode }) {
  const [drawer, setDrawer] = useState<boolean>() // undefined until first opened
  const [narrow, setNarrow] = useState(localStorage.getItem(folded) === '1')
  const [over, setOver] = useState<'palette' | 'help' | 'requests'>()
  const [due, setDue] = useState(true) // whether to remind of a second factor that is required later
  const md = useWider('md')
  const { token } = theme.useToken()
  const { pathname: path, search } = useLocation()
  const navigate = useNavigate()
  const { acting, menus } = account.info
  const all = useMemo(() => places(menus), [menus])
  const name = home?.title ?? 'Reeve'
  const docked = useDocked()

  // biome-ignore lint/nursery/useReactCompiler: an open menu closes when another page opens
  const closeMenu = useCallback(() => setDrawer((before) => before && false), [])
  // biome-ignore lint/correctness/useExhaustiveDependencies: runs when the path changes
  useEffect(closeMenu, [path, closeMenu])
  useEffect(() => {
    document.title = [titleOf(path, all), name].filter(Boolean).join(' · ')
  }, [path, all, name])
  useEffect(() => {
    setIcon(home?.logo)
    if (home) follow(home)
  }, [home])
  useKeys({ palette: () => setOver('palette'), help: () => setOver('help'), requests: () => setOver('requests'), go: (to) => void navigate(to), places: all })

  function fold() {
    if (!md) return setDrawer(true)
    localStorage.setItem(folded, narrow ? '0' : '1')
    setNarrow(!narrow)
  }

  const line = `1px solid ${token.colorBorderSecondary}`
  return (
    <>
      <a
        className="skip"
        href="#main"
        style={{ background: token.colorPrimary, color: token.colorBgContainer }}
        onClick={(e) => {
          e.preventDefault()
          toMain()
        }}
      >
        {t('skip')}
      </a>
      {acting && <ActingBar acting={acting} name={account.info.info.username} />}
      <div
        className="frame"
        style={{
          color: token.colorText,
          background: token.colorBgContainer,
          fontFamily: token.fontFamily,
          fontSize: token.fontSize,
          lineHeight: token.lineHeight,
        }}
      >
        {md ? (
          <nav className="frame-side" aria-label={t('menu')} style={{ width: narrow ? 64 : 232, background: token.colorBgLayout, borderInlineEnd: line }}>
            <Brand name={name} logo={home?.logo} narrow={narrow} />
            <div className="frame-menus">
              <Menus menus={menus} narrow={narrow} />
            </div>
          </nav>
        ) : (
          drawer !== undefined && <PhoneMenu open={drawer} name={name} menus={menus} onClose={closeMenu} />
        )}
        <div className="frame-body">
          <header className="frame-head" style={{ background: token.colorBgContainer, borderBottom: line }}>
            <Head narrow={narrow} onFold={fold} onSearch={() => setOver('palette')} onHelp={() => setOver('help')} onRequests={() => setOver('requests')} />
          </header>
          {/* data-at is the address that is drawn by now, for who drives the page from outside. */}
          <main id="main" className="frame-main" tabIndex={-1} data-at={path + search}>
            {account.info.notices.length > 0 && <AccountNotices onClose={() => {}} />}
            {due && account.info.factor_due && !acting && path !== '/account/security' && (
              <FactorDue at={account.info.factor_due} onClose={() => setDue(false)} />
            )}
            {children}
          </main>
        </div>
      </div>
      {docked}
      <Confirmation />
      <SignInAgain user={account.info.info} onDone={() => void account.reload()} />
      {over === 'palette' && <Palette places={all} onClose={() => setOver(undefined)} onHelp={() => setOver('help')} onRequests={() => setOver('requests')} />}
      {over === 'help' && <Help places={all} onClose={() => setOver(undefined)} />}
      {over === 'requests' && <Requests onClose={() => setOver(undefined)} />}
    </>
  )
}

function Brand({ name, logo, narrow }: { name: string; logo?: string; narrow: boolean }) {
  return (
    <Link to="/" className="frame-brand" title={name} aria-label={name}>
      <Mark logo={narrow ? '' : logo} />
      {!narrow && <span>{name}</span>}
    </Link>
  )
}
