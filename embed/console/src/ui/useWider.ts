import { useSyncExternalStore } from 'react'

const at = (pixels: number) => {
  const query = matchMedia(`(min-width: ${pixels}px)`)
  return {
    wide: () => query.matches,
    subscribe: (told: () => void) => {
      query.addEventListener('change', told)
      return () => query.removeEventListener('change', told)
    },
  }
}

// The widths of the window at which pages change their shape: a phone's, a tablet's,
// and a desk's. Below the least there is no room for a table.
const widths = { sm: at(640), md: at(768), lg: at(992), xl: at(1200), xxl: at(1600) }

// useWider tells whether the window is at least so wide. It knows from the first
// drawing on, so that no page is drawn for a phone first.
export const useWider = (than: keyof typeof widths): boolean => useSyncExternalStore(widths[than].subscribe, widths[than].wide)
