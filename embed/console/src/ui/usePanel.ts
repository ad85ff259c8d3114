import { useCallback, useState } from 'react'

// usePanel is a drawer or dialog with its subject, which stays when it closes, until it is forgotten.
export function usePanel<T>() {
  const [of, setOf] = useState<T>()
  const [open, setOpen] = useState(false)
  const show = useCallback((what: T): void => {
    setOf(() => what)
    setOpen(true)
  }, [])
  const hide = useCallback((): void => setOpen(false), [])
  const forget = useCallback((): void => setOf(undefined), [])
  return { of, open, show, hide, forget }
}
