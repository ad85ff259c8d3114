import { Spin, Typography } from 'antd'
import { base } from '../api/base'
import { Component, type ReactNode, Suspense } from 'react'
import { BrowserRouter, Outlet, Route, Routes, useLocation } from 'react-router'
import { useAccount } from './account'
import { Layout } from './Layout'
import { places, titleOf } from './menu'
import { t } from '../i18n'
import { account, home, manual, pages, password } from './pages'
import { Forbidden, NotFound, Problem } from './States'

// Routing maps the URL to a page. A page handles the rest of its path, such as a record's
// ID.
export function Routing() {
  return (
    <BrowserRouter basename={`${base}/console`}>
      <Routes>
        <Route
          path="password"
          element={
            <Suspense>
              <password.Component />
            </Suspense>
          }
        />
        <Route
          element={
            <Layout>
              <Guarded>
                <Outlet />
              </Guarded>
            </Layout>
          }
        >
          <Route index element={<home.Component />} />
          <Route path="account/*" element={<account.Component />} />
          <Route path="help/*" element={<manual.Component />} />
          {Object.entries(pages).map(([path, page]) => (
            <Route key={path} path={`${path}/*`} element={<Permitted page={page} />} />
          ))}
          <Route path="*" element={<NotFound />} />
        </Route>
      </Routes>
    </BrowserRouter>
  )
}

function Permitted({ page }: { page: (typeof pages)[string] }) {
  const { may } = useAccount()
  return page.access.some(may) ? <page.Component /> : <Forbidden permission={page.access.join(', ')} />
}

function Guarded({ children }: { children: ReactNode }) {
  const path = useLocation().pathname
  return (
    <Broken key={path.split('/', 3).join('/')}>
      <Suspense fallback={<Loading path={path} />}>{children}</Suspense>
    </Broken>
  )
}

// Loading is a page whose program is being loaded.
function Loading({ path }: { path: string }) {
  const { menus } = useAccount().info
  return (
    <>
      <Typography.Title level={1} style={{ fontSize: 20, margin: '0 0 16px' }}>
        {titleOf(path, places(menus)) || t('loading')}
      </Typography.Title>
      <Spin />
    </>
  )
}

// Broken replaces a page that failed to render, until another one opens.
class Broken extends Component<{ children: ReactNode }, { error?: unknown }> {
  state: { error?: unknown } = {}
  static getDerivedStateFromError(error: unknown) {
    return { error }
  }
  render() {
    return this.state.error === undefined ? this.props.children : <Problem />
  }
}
