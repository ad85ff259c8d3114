import { type RefObject, useEffect } from 'react'
import { useLocation } from 'react-router'

// settled is the time in which the sections above are expected to load, in milliseconds.
const settled = 4000

// useAnchor scrolls to the element that the hash of the URL names and gives it the focus. It stays in view
// while what is above it loads, until the user does something.
export function useAnchor(page: RefObject<HTMLElement | null>): void {
  const { hash, key } = useLocation()
  // biome-ignore lint/correctness/useExhaustiveDependencies: the same link again scrolls there again
  useEffect(() => {
    const target = hash && document.getElementById(hash.slice(1))
    if (!target || !page.current) return
    const control = new AbortController()
    const sizes = new ResizeObserver(() => target.scrollIntoView())
    const stop = () => {
      sizes.disconnect()
      control.abort()
    }
    target.focus({ preventScroll: true })
    sizes.observe(page.current) // which also calls back at once
    for (const act of ['pointerdown', 'wheel', 'touchstart', 'keydown']) addEventListener(act, stop, { signal: control.signal, passive: true })
    const timer = setTimeout(stop, settled)
    return () => {
      clearTimeout(timer)
      stop()
    }
  }, [hash, key, page])
}
