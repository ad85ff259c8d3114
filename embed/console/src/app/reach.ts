import { base, consoleURL } from '../api/base'
import { hooks } from '../api/request'
import { store } from '../ui/store'
import { notifyReconnect } from '../ui/useReconnect'

// Availability of the server. After a request without a response, /health is polled with increasing
// delays until it answers. The page stays open, so that no input is lost.
//
//   offline   this device has no network
//   away      the server does not answer
//   back      it answers again
//   updated   it answers, with another version than this console's
export type Reach = 'well' | 'offline' | 'away' | 'back' | 'updated'

const reach = store<Reach>(navigator.onLine ? 'well' : 'offline')
let wait: ReturnType<typeof setTimeout> | undefined

const setReach = reach.set

// answers reports whether the server handles requests. A server that can't write still
// reads.
async function answers(): Promise<boolean> {
  try {
    const response = await fetch(`${base}/health`, { cache: 'no-store', signal: AbortSignal.timeout(5000) })
    return response.ok || ((await response.json()) as { errorCode?: string }).errorCode === 'not_healthy'
  } catch {
    return false
  }
}

// sameVersion reports whether the server's page still loads the running version.
async function sameVersion(): Promise<boolean> {
  const ours = document.querySelector('script[type=importmap]')?.textContent // lists all files
  if (!ours) return true
  try {
    return (await (await fetch(consoleURL(), { cache: 'no-store' })).text()).includes(ours)
  } catch {
    return true // checked again after the next interruption
  }
}

async function look(pause: number): Promise<void> {
  clearTimeout(wait)
  if (!navigator.onLine) return setReach('offline')
  if (!(await answers())) {
    if (reach.get() !== 'away') setReach('away')
    clearTimeout(wait)
    wait = setTimeout(() => void look(Math.min(pause * 2, 10_000)), pause * (0.75 + Math.random() / 2))
    return
  }
  if (!(await sameVersion())) return setReach('updated')
  setReach('back')
  notifyReconnect()
  wait = setTimeout(dismiss, 4000)
}

// dismiss hides the message.
export function dismiss(): void {
  clearTimeout(wait)
  setReach('well')
}

// tryNow retries immediately.
export function tryNow(): void {
  void look(500)
}

// watch starts to observe failed requests and the network state.
export function watch(): void {
  hooks.lost = async () => {
    if (reach.get() === 'well' || reach.get() === 'back') {
      if (navigator.onLine && (await answers())) return false
      void look(500)
    }
    return true
  }
  addEventListener('offline', () => setReach('offline'))
  addEventListener('online', () => void look(500))
}

export const useReach = reach.use
