// The first page that a browser loads. Who is not signed in gets the sign-in page
// and nothing of the rest, which is many times as large.
import { createRoot } from 'react-dom/client'
import { token } from './api/session'
import { language, learn } from './i18n'
import { SignIn } from './pages/SignIn'

document.documentElement.lang = language
const root = createRoot(document.getElementById('root')!)

if (token()) {
  void Promise.all([import('./app/App'), learn('frame')]).then(([{ App }]) => root.render(<App />))
} else {
  root.render(<SignIn />)
}
