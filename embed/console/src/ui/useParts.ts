import { useCallback } from 'react'
import { useSearchParams } from 'react-router'
import { useLatest } from './useLatest'

// useParts is the part of the address behind the path, where a page keeps what it shows,
// so that a view can be kept and shared. set changes parts of the address as it is now,
// which may be more than what is drawn yet; undefined or '' takes a part out.
export function useParts() {
  const [params, setParams] = useSearchParams()
  const latestRef = useLatest(setParams) // it is another one for every address, and set is not
  const set = useCallback(
    (values: Record<string, string | string[] | undefined>) =>
      // biome-ignore lint/nursery/useReactCompiler: a ref is the same at all times
      latestRef.current(
        () => {
          const next = new URLSearchParams(location.search)
          for (const [name, value] of Object.entries(values)) {
            if (!value) next.delete(name)
            else if (!Array.isArray(value)) next.set(name, value)
            else {
              next.delete(name)
              for (const v of value) next.append(name, v)
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
