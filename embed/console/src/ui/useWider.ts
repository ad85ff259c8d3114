import { useSyncExternalStore } from 'react'

const at = (pixels: number) => {
  const query = matchMedia(`(min-width: ${pixels}px)`)
  return {
    wide: () => query.matches,
    subscribe: (listener: () => void) => {
      query.addEventListener('change', listener)
      return () => query.removeEventListener('change', listener)
    },
  }
}

// Window widths at which pages change their layout: phone, tablet and desktop. Below the
// smallest there is no room for a table.
const widths = { sm: at(640), md: at(768), lg: at(992), xl: at(1200), xxl: at(1600) }

// useWider reports whether the window has at least a width, from the first render on, so
// that no page renders for a phone first.
export const useWider = (than: keyof typeof widths): boolean => useSyncExternalStore(widths[than].subscribe, widths[than].wide)
