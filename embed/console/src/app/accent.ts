import type { ThemeConfig } from 'antd'
import type { Home } from '../api/types'
import { store } from '../ui/store'

// The accent color of the installation. The server writes it into the page, so that nothing has another color at first.

type Paint = (dark: boolean) => ThemeConfig

const paint = store<Paint | undefined>(undefined)

const style = document.documentElement.style
const written = (name: string) => getComputedStyle(document.documentElement).getPropertyValue(name)

let [light, dark] = [written('--accent'), written('--accent-dark')]

// load loads the theme for the accent colors, if there are any.
async function load(): Promise<void> {
  paint.set(light || dark ? (await import('./brand')).branded(light, dark) : undefined)
}

export const accentLoaded = load().catch(() => {}) // without it, the colors are the console's own

// follow takes over colors that have been changed.
export function follow(home: Home): void {
  if (home.accent === light && home.accent_dark === dark) return
  ;[light, dark] = [home.accent, home.accent_dark]
  style.setProperty('--accent', light || 'initial')
  style.setProperty('--accent-dark', dark || 'initial')
  void load()
}

export const usePaint = paint.use
