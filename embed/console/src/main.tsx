// Entry point. Users who are not signed in get the sign-in page only; the rest is many
// times larger.
import { createRoot } from 'react-dom/client'
import { consoleURL } from './api/base'
import { askEarly } from './api/early'
import { isReturned, tellReturned } from './api/returned'
import { isPending, mark } from './api/session'
import { finishSignOut } from './api/sign-out'
import { language, loadTexts, t } from './i18n'
import { languages } from './i18n/languages'
import { SignIn } from './pages/SignIn'

document.documentElement.lang = language
localStorage.removeItem('reeve.token') // of versions that kept the session there
const root = createRoot(document.getElementById('root')!)

if (isReturned()) {
  tellReturned()
  root.render(<Returned />)
} else if (mark() && location.pathname === consoleURL('open')) {
  void import('./pages/Open').then(({ Open }) => root.render(<Open />), unreachable)
} else if (mark()) {
  askEarly()
  root.render(<Waiting />)
  Promise.all([import('./app/App'), languages[language]?.library?.(), loadTexts('frame')]).then(
    ([{ App, accentLoaded }, locale]) => accentLoaded.then(() => root.render(<App locale={locale} />)),
    unreachable,
  )
} else {
  if (isPending()) root.render(<Waiting />)
  void finishSignOut().then(() => root.render(<SignIn />))
}

function unreachable() {
  root.render(<Unreachable />)
}

// Waiting is shown immediately, even on slow connections.
function Waiting() {
  return (
    <main className="console-coming">
      <svg viewBox="0 0 24 24">
        <circle cx="12" cy="12" r="10" />
      </svg>
    </main>
  )
}

// Returned is shown after a confirmation with a sign-in provider, in a window that the browser does not close.
function Returned() {
  return (
    <main className="sign-in">
      <h1>Reeve</h1>
      <p role="status">{t('sign_in.returned')}</p>
    </main>
  )
}

// Unreachable is shown while the console's files can't be loaded.
function Unreachable() {
  return (
    <main className="sign-in">
      <h1>Reeve</h1>
      <p role="alert">{t('error.unreachable')}</p>
      <p>
        <button onClick={() => location.reload()}>{t('state.reload')}</button>
      </p>
    </main>
  )
}
