import { useEffect } from 'react'
import { store } from './store'

// missing is how many parts of the page could not be loaded.
export const missing = store(0)

// useMissing counts a part of the page while it could not be loaded.
export function useMissing(is: boolean): void {
  useEffect(() => {
    if (!is) return
    missing.set(missing.get() + 1)
    return () => missing.set(missing.get() - 1)
  }, [is])
}
