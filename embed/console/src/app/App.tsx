import { consoleURL } from '../api/base'
import { nonce } from './nonce'
import { App as Ant, ConfigProvider, type ConfigProviderProps } from 'antd'
import enUS from 'antd/es/locale/en_US'
import { useEffect } from 'react'
import { actingAs, followActing, takeEnded } from '../api/acting'
import { Failure, hooks, show } from '../api/request'
import { record } from '../api/sent'
import { follow } from '../api/session'
import { t } from '../i18n'
import { faultText, words } from '../ui/words'
import { usePrefersDark } from '../ui/dark'
import { watch } from './reach'
import { keepFocus } from '../ui/dialogs'
import { ReachBar } from './ReachBar'
import { Routing } from './Routing'
import { dark, light } from './theme'
import { usePaint } from './accent'

hooks.sent = record
export { accentLoaded } from './accent'

watch()
follow()
followActing()
keepFocus()

// A failure thrown to a page has already been shown; the page only has to stop.
window.addEventListener('unhandledrejection', (e) => {
  if (e.reason instanceof Failure || (e.reason instanceof DOMException && e.reason.name === 'AbortError')) e.preventDefault()
})

// The buttons of a calendar say its month and year; a name would hide that.
Object.assign(enUS.DatePicker?.lang ?? {}, { yearSelect: undefined, monthSelect: undefined })

// App is the console of the signed-in user. locale is the component library's; undefined
// means English.
export function App({ locale = enUS }: { locale?: ConfigProviderProps['locale'] }) {
  const prefersDark = usePrefersDark()
  const paint = usePaint()
  return (
    <ConfigProvider
      locale={locale}
      csp={{ nonce }}
      button={{ autoInsertSpace: false }}
      getPopupContainer={(trigger) => trigger?.closest<HTMLElement>('main, header, nav') ?? document.body} // popups belong to the landmark that they are opened from
      theme={paint ? paint(prefersDark) : prefersDark ? dark : light}
    >
      <Ant>
        <Notices />
        <Routing />
        <ReachBar />
      </Ant>
    </ConfigProvider>
  )
}

// Notices shows failures as the API requests, each text once.
function Notices() {
  const { message, notification } = Ant.useApp()
  useEffect(() => {
    hooks.failed = (failure) => {
      switch (failure.showType) {
        case show.silent:
          break
        case show.warning:
          void message.warning({ key: words(failure), content: words(failure) })
          break
        case show.notifyWarning:
          notification.warning({ title: words(failure) })
          break
        case show.notifyError:
          notification.error({ title: words(failure) })
          break
        default:
          void message.error({ key: words(failure), content: words(failure) })
      }
    }
    hooks.saved = () => void message.success({ key: 'saved', content: t('saved') })
    hooks.mustChange = () => location.replace(consoleURL('password'))
    hooks.mustAddFactor = () => location.replace(consoleURL()) // whose layout asks for it
    hooks.fault = faultText
    if (!actingAs && takeEnded()) void message.info(t('acting.over'), 8)
  }, [message, notification])
  return null
}
