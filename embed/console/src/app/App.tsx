import { nonce } from './nonce'
import { App as Ant, ConfigProvider, theme, type ThemeConfig } from 'antd'
import enUS from 'antd/locale/en_US'
import zhCN from 'antd/locale/zh_CN'
import 'dayjs/locale/zh-cn'
import dayjs from 'dayjs'
import { useEffect } from 'react'
import { Failure, hooks, show } from '../api/request'
import { language } from '../i18n'
import { words } from '../ui/words'
import { usePrefersDark } from '../ui/dark'
import { Routing } from './Routing'

dayjs.locale(language === 'zh' ? 'zh-cn' : 'en')

// A failure has been shown by the time that it is thrown to a page, which needs to
// do no more than to stop.
window.addEventListener('unhandledrejection', (e) => {
  if (e.reason instanceof Failure || (e.reason instanceof DOMException && e.reason.name === 'AbortError')) e.preventDefault()
})

// The library's own colours of text are too faint to be read by everybody: here each
// is at least 4.5 times as light or as dark as what it stands on.
const lightTheme: ThemeConfig = {
  algorithm: theme.defaultAlgorithm,
  token: {
    borderRadius: 8, colorPrimary: '#0958d9', colorSuccess: '#237804', colorWarning: '#a34500', colorError: '#cf1322', colorInfo: '#0958d9', colorLink: '#0958d9',
    colorSuccessBg: '#f6ffed', colorWarningBg: '#fffbe6', colorErrorBg: '#fff2f0', colorInfoBg: '#e6f4ff', colorPrimaryBg: '#e6f4ff',
    colorTextTertiary: 'rgba(0, 0, 0, 0.65)', colorTextQuaternary: 'rgba(0, 0, 0, 0.57)', colorTextDescription: 'rgba(0, 0, 0, 0.65)', colorTextPlaceholder: 'rgba(0, 0, 0, 0.57)',
  },
}

const darkTheme: ThemeConfig = {
  algorithm: theme.darkAlgorithm,
  token: {
    borderRadius: 8, colorPrimary: '#69a8ff', colorSuccess: '#6abe39', colorWarning: '#e89a3c', colorError: '#ff7875', colorInfo: '#69a8ff', colorLink: '#69a8ff',
    colorSuccessBg: '#162312', colorWarningBg: '#2b2111', colorErrorBg: '#2c1618', colorInfoBg: '#111a2c', colorPrimaryBg: '#111a2c',
    colorTextTertiary: 'rgba(255, 255, 255, 0.65)', colorTextQuaternary: 'rgba(255, 255, 255, 0.55)', colorTextDescription: 'rgba(255, 255, 255, 0.65)', colorTextPlaceholder: 'rgba(255, 255, 255, 0.55)',
  },
  components: { Button: { primaryColor: '#141414', dangerColor: '#141414' } },
}

// App is the console of who is signed in.
export function App() {
  const dark = usePrefersDark()
  return (
    <ConfigProvider
      locale={language === 'zh' ? zhCN : enUS}
      csp={{ nonce }}
      getPopupContainer={(trigger) => trigger?.closest('main') ?? document.body} // what opens in a page belongs to it
      theme={dark ? darkTheme : lightTheme}
    >
      <Ant>
        <Notices />
        <Routing />
      </Ant>
    </ConfigProvider>
  )
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
