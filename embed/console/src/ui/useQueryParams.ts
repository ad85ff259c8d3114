import { useCallback } from 'react'
import { useSearchParams } from 'react-router'
import { useLatest } from './useLatest'

// useQueryParams is the URL's query, where a page keeps its state so that a view can be
// bookmarked and shared. set changes the current URL, which may be ahead of the render;
// undefined or '' removes a parameter.
export function useQueryParams() {
  const [params, setParams] = useSearchParams()
  const latestRef = useLatest(setParams) // it changes with every URL, and set does not
  const set = useCallback(
    (values: Record<string, string | string[] | undefined>) =>
      // biome-ignore lint/nursery/useReactCompiler: a ref is stable
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
