import { nonce } from './nonce'
import { App as Ant, ConfigProvider, theme } from 'antd'
import enUS from 'antd/locale/en_US'
import zhCN from 'antd/locale/zh_CN'
import 'dayjs/locale/zh-cn'
import dayjs from 'dayjs'
import { useEffect } from 'react'
import { RouterProvider } from 'react-router'
import { type Failure, hooks, show } from '../api/request'
import { language, maybe, t } from '../i18n'
import { usePrefersDark } from '../ui/dark'
import { router } from './router'

dayjs.locale(language === 'zh' ? 'zh-cn' : 'en')

// App is the console of who is signed in.
export function App() {
  const dark = usePrefersDark()
  return (
    <ConfigProvider
      locale={language === 'zh' ? zhCN : enUS}
      csp={{ nonce }}
      theme={{ algorithm: dark ? theme.darkAlgorithm : theme.defaultAlgorithm, token: { borderRadius: 8, colorPrimary: '#0958d9' } }}
    >
      <Ant>
        <Notices />
        <RouterProvider router={router} />
      </Ant>
    </ConfigProvider>
  )
}

// words are what a failure says to a person.
export function words(failure: Failure): string {
  return maybe(`error.${failure.code}`)?.replace('{request}', failure.requestId) ?? (failure.message || t('error.unreachable'))
}

// Notices shows failures the way that the interface asks for.
function Notices() {
  const { message, notification } = Ant.useApp()
  useEffect(() => {
    hooks.failed = (failure) => {
      switch (failure.showType) {
        case show.silent: break
        case show.warning: void message.warning(words(failure)); break
        case show.notifyWarning: notification.warning({ title: words(failure) }); break
        case show.notifyError: notification.error({ title: words(failure) }); break
        default: void message.error(words(failure))
      }
    }
    hooks.mustChange = () => location.replace('/console/password')
  }, [message, notification])
  return null
}
