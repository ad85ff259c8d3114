import { lazy, Suspense } from 'react'
import type { Range as Ranges } from './Range'

const Range = lazy(async () => ({ default: (await import('./Range')).Range })) as unknown as typeof Ranges

type Props = {
  list: { params: URLSearchParams; set: (values: Record<string, string | string[] | undefined>) => void }
  name: string
  label: string
  future?: boolean
}

// LazyRange filters a list by days. The calendar is large, and loaded after the list.
export function LazyRange({ list, name, label, future }: Props) {
  return (
    <Suspense fallback={<span style={{ width: 240, height: 32 }} />}>
      <Range label={label} future={future} value={list.params.getAll(name)} onChange={(range) => list.set({ [name]: range })} />
    </Suspense>
  )
}
