import { createBrowserRouter } from 'react-router'
import { Layout } from './Layout'
import { pages } from './pages'
import { NotFound, Problem } from './States'

export const router = createBrowserRouter(
  [
    { path: '/password', HydrateFallback: () => null, lazy: async () => ({ Component: (await import('../pages/Password')).Password }) },
    {
      path: '/',
      Component: Layout,
      HydrateFallback: () => null,
      ErrorBoundary: Problem,
      children: [
        { index: true, lazy: async () => ({ Component: (await import('../pages/Home')).HomePage }) },
        ...Object.entries(pages).map(([path, load]) => ({ path: path.slice(1), lazy: async () => ({ Component: await load() }) })),
        { path: '*', Component: NotFound },
      ],
    },
  ],
  { basename: '/console' },
)
