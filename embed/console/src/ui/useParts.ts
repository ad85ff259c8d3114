import { useCallback } from 'react'
import { useSearchParams } from 'react-router'

// useParts is the part of the address behind the path, for pages that keep what they
// show there; a value of undefined or '' takes a part out.
export function useParts() {
  const [params, setParams] = useSearchParams()
  const set = useCallback(
    (values: Record<string, string | undefined>) =>
      setParams(
        (before) => {
          const next = new URLSearchParams(before)
          for (const [name, value] of Object.entries(values)) {
            if (value) next.set(name, value)
            else next.delete(name)
          }
          return next
        },
        { replace: true },
      ),
    [setParams],
  )
  return { params, set }
}
