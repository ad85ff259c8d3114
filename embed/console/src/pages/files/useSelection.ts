import { useEffect, useState } from 'react'

// useSelection keeps the selected records of a page. With shift, it selects the range from
// the last one.
export function useSelection<T extends { id: number }>(rows: readonly T[]) {
  const [ids, setIds] = useState<ReadonlySet<number>>(new Set())
  const [anchor, setAnchor] = useState<number>()

  useEffect(() => {
    const there = new Set(rows.map((row) => row.id))
    // biome-ignore lint/nursery/useReactCompiler: rows that are gone leave the selection, which is usually empty
    setIds((before) => ([...before].every((id) => there.has(id)) ? before : new Set([...before].filter((id) => there.has(id)))))
  }, [rows])

  const all = () => setIds(new Set(rows.map((row) => row.id)))
  const clear = () => setIds((before) => (before.size ? new Set() : before))

  function toggle(id: number, range: boolean) {
    const next = new Set(ids)
    const on = !ids.has(id)
    const [from, to] = [rows.findIndex((row) => row.id === anchor), rows.findIndex((row) => row.id === id)]
    if (range && from >= 0) for (const row of rows.slice(Math.min(from, to), Math.max(from, to) + 1)) next.add(row.id)
    else if (on) next.add(id)
    else next.delete(id)
    setIds(next)
    setAnchor(id)
  }

  useEffect(() => {
    function onKey(e: KeyboardEvent) {
      const target = e.target as HTMLElement
      if (
        [...document.querySelectorAll('[role=dialog]')].some((dialog) => dialog.checkVisibility()) ||
        target.closest('input:not([type=checkbox]), textarea, [contenteditable=true]')
      )
        return
      if (e.key === 'a' && (e.ctrlKey || e.metaKey) && rows.length > 0) {
        e.preventDefault()
        all()
      } else if (e.key === 'Escape') {
        clear()
      }
    }
    document.addEventListener('keydown', onKey)
    return () => document.removeEventListener('keydown', onKey)
  })

  return {
    of: rows.length,
    rows: rows.filter((row) => ids.has(row.id)),
    has: (id: number) => ids.has(id),
    set: (next: number[]) => setIds(new Set(next)),
    toggle,
    all,
    clear,
  }
}
