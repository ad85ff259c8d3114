import { useCallback, useState } from 'react'

// usePanel is a drawer or dialog with its subject, which stays while it closes.
export function usePanel<T>() {
  const [of, setOf] = useState<T>()
  const [open, setOpen] = useState(false)
  const show = useCallback((what: T): void => {
    setOf(() => what)
    setOpen(true)
  }, [])
  const hide = useCallback((): void => setOpen(false), [])
  return { of, open, show, hide }
}
