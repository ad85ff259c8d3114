import { hooks } from '../api/request'
import { store } from '../ui/store'
import { tellBack } from '../ui/useBack'

// Whether the server can be asked. A request that was not answered begins the
// waiting; then /health is asked, ever more slowly, until there is an answer. No
// page is left for that, so nothing that was typed is lost.
//
//   offline   this device has no network
//   away      the server does not answer
//   back      it does again
//   updated   it does, and is another version than this console
export type Reach = 'well' | 'offline' | 'away' | 'back' | 'updated'

const reach = store<Reach>(navigator.onLine ? 'well' : 'offline')
let wait: ReturnType<typeof setTimeout> | undefined

const become = reach.set

// answers tells whether the server takes requests. One that cannot write any more
// still reads.
async function answers(): Promise<boolean> {
  try {
    const response = await fetch('/health', { cache: 'no-store', signal: AbortSignal.timeout(5000) })
    return response.ok || ((await response.json()) as { errorCode?: string }).errorCode === 'not_healthy'
  } catch {
    return false
  }
}

// sameVersion tells whether the server's page still loads the program that runs here.
async function sameVersion(): Promise<boolean> {
  const ours = document.querySelector('script[type=importmap]')?.textContent // it names all files
  if (!ours) return true
  try {
    return (await (await fetch('/console/', { cache: 'no-store' })).text()).includes(ours)
  } catch {
    return true // it is asked again when it next comes back
  }
}

async function look(pause: number): Promise<void> {
  clearTimeout(wait)
  if (!navigator.onLine) return become('offline')
  if (!(await answers())) {
    if (reach.get() !== 'away') become('away')
    clearTimeout(wait)
    wait = setTimeout(() => void look(Math.min(pause * 2, 10_000)), pause * (0.75 + Math.random() / 2))
    return
  }
  if (!(await sameVersion())) return become('updated')
  become('back')
  tellBack()
  wait = setTimeout(dismiss, 4000)
}

// dismiss takes the news away.
export function dismiss(): void {
  clearTimeout(wait)
  become('well')
}

// tryNow asks at once, for who does not want to wait.
export function tryNow(): void {
  void look(500)
}

// watch begins to look after requests that are not answered, and the network.
export function watch(): void {
  hooks.lost = async () => {
    if (reach.get() === 'well' || reach.get() === 'back') {
      if (navigator.onLine && (await answers())) return false
      void look(500)
    }
    return true
  }
  addEventListener('offline', () => become('offline'))
  addEventListener('online', () => void look(500))
}

export const useReach = reach.use
