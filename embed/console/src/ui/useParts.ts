import { useCallback, useRef } from 'react'
import { useSearchParams } from 'react-router'

// useParts is the part of the address behind the path, where a page keeps what it shows,
// so that a view can be kept and shared. set changes parts of the address as it is now,
// which may be more than what is drawn yet; undefined or '' takes a part out.
export function useParts() {
  const [params, setParams] = useSearchParams()
  const latest = useRef(setParams) // it is another one for every address, and set is not
  latest.current = setParams
  const set = useCallback(
    (values: Record<string, string | string[] | undefined>) =>
      latest.current(
        () => {
          const next = new URLSearchParams(location.search)
          for (const [name, value] of Object.entries(values)) {
            if (!value) next.delete(name)
            else if (!Array.isArray(value)) next.set(name, value)
            else {
              next.delete(name)
              value.forEach((v) => next.append(name, v))
            }
          }
          return next
        },
        { replace: true },
      ),
    [],
  )
  return { params, set }
}
